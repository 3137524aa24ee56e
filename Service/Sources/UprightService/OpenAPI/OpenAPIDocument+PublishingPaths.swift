extension OpenAPIDocument {
  /// The paths of publishers.
  static let publishingPaths = #"""
    "/v1/sessions/{id}/publish-url": {
      "parameters": [{"$ref": "#/components/parameters/Session"}],
      "post": {
        "operationId": "makePublishURL", "tags": ["publishing"],
        "summary": "Returns a link to the page that publishes to the session from a browser. One browser can use it, once. The input must be WHIP.",
        "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PublishURLRequest"}}}},
        "responses": {
          "200": {
            "description": "The link.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PublishURL"}}}
          },
          "400": {"$ref": "#/components/responses/Problem"},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"},
          "409": {"$ref": "#/components/responses/Problem"},
          "413": {"$ref": "#/components/responses/Problem"}
        }
      }
    },
    "/v1/sessions/{id}/sensor-url": {
      "parameters": [{"$ref": "#/components/parameters/Session"}],
      "post": {
        "operationId": "makeSensorURL", "tags": ["publishing"],
        "summary": "Returns a link to the page that sends how a phone is held to a session with any input. One browser can use it, once.",
        "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PublishURLRequest"}}}},
        "responses": {
          "200": {
            "description": "The link.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PublishURL"}}}
          },
          "400": {"$ref": "#/components/responses/Problem"},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"},
          "413": {"$ref": "#/components/responses/Problem"}
        }
      }
    },
    "/sensor/{id}": {
      "parameters": [{"$ref": "#/components/parameters/Session"}],
      "get": {
        "operationId": "getSensorPage", "tags": ["publishing"],
        "summary": "Returns the page that sends how a phone is held to a session.", "security": [],
        "responses": {"200": {"description": "HTML.", "content": {"text/html": {"schema": {"type": "string"}}}}}
      }
    },
    "/publish/{id}": {
      "parameters": [{"$ref": "#/components/parameters/Session"}],
      "get": {
        "operationId": "getPublishPage", "tags": ["publishing"],
        "summary": "Returns the page that publishes to a session from a browser.", "security": [],
        "responses": {"200": {"description": "HTML.", "content": {"text/html": {"schema": {"type": "string"}}}}}
      },
      "post": {
        "operationId": "redeemPublishURL", "tags": ["publishing"],
        "summary": "Exchanges the code of a publish link, sent as the bearer token, for a token that publishes to the session by WHIP and posts its events. Works once.",
        "responses": {
          "200": {
            "description": "The token.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PublishToken"}}}
          },
          "401": {"$ref": "#/components/responses/Problem"}
        }
      }
    },
    "/whip/{id}": {
      "parameters": [{"$ref": "#/components/parameters/Session"}],
      "post": {
        "operationId": "publish", "tags": ["publishing"],
        "summary": "Publishes to a session by WebRTC (WHIP, RFC 9725): takes an SDP offer and returns the answer.",
        "description": "The offer has one video in H.264, VP8 or VP9, without simulcast, and at most one audio. A publisher that has sent nothing for some seconds is replaced; otherwise a second one gets 409.",
        "requestBody": {"required": true, "content": {"application/sdp": {"schema": {"type": "string"}}}},
        "responses": {
          "201": {
            "description": "The answer. A Link header names each ICE server.",
            "headers": {
              "Location": {"schema": {"type": "string"}, "description": "The publication, for DELETE and PATCH."},
              "ETag": {"schema": {"type": "string"}}
            },
            "content": {"application/sdp": {"schema": {"type": "string"}}}
          },
          "400": {"$ref": "#/components/responses/Problem"},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"},
          "409": {"$ref": "#/components/responses/Problem"},
          "413": {"$ref": "#/components/responses/Problem"},
          "415": {"$ref": "#/components/responses/Problem"},
          "422": {"$ref": "#/components/responses/Problem"},
          "503": {"$ref": "#/components/responses/Problem"}
        }
      },
      "options": {
        "operationId": "preflightPublish", "tags": ["publishing"],
        "summary": "Answers a CORS preflight request, and names the ICE servers in Link headers.", "security": [],
        "responses": {"204": {"$ref": "#/components/responses/Empty"}}
      }
    },
    "/whip/{id}/{publication}": {
      "parameters": [{"$ref": "#/components/parameters/Session"}, {"$ref": "#/components/parameters/Publication"}],
      "patch": {
        "operationId": "addCandidates", "tags": ["publishing"],
        "summary": "Adds ICE candidates of the publisher, or restarts ICE with the publisher's new credentials (RFC 9725, 4.3).",
        "parameters": [{"name": "If-Match", "in": "header", "schema": {"type": "string"}, "description": "The ETag of the answer; * to restart ICE. Without it the answer is 428."}],
        "requestBody": {"required": true, "content": {"application/trickle-ice-sdpfrag": {"schema": {"type": "string"}}}},
        "responses": {
          "200": {
            "description": "ICE is restarted with these credentials and candidates.",
            "headers": {"ETag": {"schema": {"type": "string"}}},
            "content": {"application/trickle-ice-sdpfrag": {"schema": {"type": "string"}}}
          },
          "204": {"$ref": "#/components/responses/Empty"},
          "400": {"$ref": "#/components/responses/Problem"},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"},
          "412": {"$ref": "#/components/responses/Problem"},
          "413": {"$ref": "#/components/responses/Problem"},
          "415": {"$ref": "#/components/responses/Problem"},
          "422": {"$ref": "#/components/responses/Problem"},
          "428": {"$ref": "#/components/responses/Problem"},
          "503": {"$ref": "#/components/responses/Problem"}
        }
      },
      "delete": {
        "operationId": "endPublication", "tags": ["publishing"],
        "summary": "Ends the publication. The session waits for the next publisher.",
        "responses": {
          "200": {"$ref": "#/components/responses/Empty"},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"}
        }
      },
      "options": {
        "operationId": "preflightPublication", "tags": ["publishing"],
        "summary": "Answers a CORS preflight request.", "security": [],
        "responses": {"204": {"$ref": "#/components/responses/Empty"}}
      }
    }
    """#
}
