extension OpenAPIDocument {
  /// The paths of the console.
  static let consolePaths = #"""
    "/": {"get": {
      "operationId": "showConsole", "tags": ["console"],
      "summary": "Returns the console, a page that shows and turns the sessions.", "security": [],
      "responses": {"200": {"description": "HTML.", "content": {"text/html": {"schema": {"type": "string"}}}}}
    }},
    "/console/{name}": {
      "parameters": [{"$ref": "#/components/parameters/ConsoleFile"}],
      "get": {
        "operationId": "getConsoleFile", "tags": ["console"],
        "summary": "Returns a file of the console.", "security": [],
        "responses": {
          "200": {"description": "The file, with ETag.", "content": {
            "text/html": {"schema": {"type": "string"}}, "text/css": {"schema": {"type": "string"}},
            "text/javascript": {"schema": {"type": "string"}}, "image/svg+xml": {"schema": {"type": "string"}}
          }},
          "304": {"$ref": "#/components/responses/Empty"},
          "404": {"$ref": "#/components/responses/Problem"}
        }
      }
    },
    "/v1/login": {
      "post": {
        "operationId": "logIn", "tags": ["console"],
        "summary": "Sets a cookie that stands for the admin token for twelve hours. Scripts can't read it. With it, requests other than GET need the header X-Upright-Console, with any value.",
        "responses": {
          "204": {"$ref": "#/components/responses/Empty"},
          "401": {"$ref": "#/components/responses/Problem"}
        }
      },
      "delete": {
        "operationId": "logOut", "tags": ["console"],
        "summary": "Ends the login of the request's cookie.",
        "responses": {
          "204": {"$ref": "#/components/responses/Empty"},
          "401": {"$ref": "#/components/responses/Problem"},
          "403": {"$ref": "#/components/responses/Problem"}
        }
      }
    },
    "/v1/sample": {"post": {
      "operationId": "startSample", "tags": ["console"],
      "summary": "Starts the session sample, whose input is a file of a phone that turns, repeated. It turns by itself until somebody posts device or gravity to it.",
      "responses": {
        "200": {"$ref": "#/components/responses/Session"},
        "201": {"$ref": "#/components/responses/Session"},
        "401": {"$ref": "#/components/responses/Problem"},
        "429": {"$ref": "#/components/responses/Problem"},
        "503": {"$ref": "#/components/responses/Problem"}
      }
    }},
    "/v1/sessions/{id}/thumbnail": {
      "parameters": [{"$ref": "#/components/parameters/Session"}],
      "get": {
        "operationId": "getThumbnail", "tags": ["console"],
        "summary": "Returns a picture of what the session sends now, with 320 pixels on its longer side, not older than two seconds.",
        "responses": {
          "200": {"description": "JPEG.", "content": {"image/jpeg": {"schema": {"type": "string"}}}},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"},
          "409": {"$ref": "#/components/responses/Problem"}
        }
      }
    }
    """#
}
