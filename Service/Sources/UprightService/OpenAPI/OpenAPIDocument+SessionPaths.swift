extension OpenAPIDocument {
  /// The paths of sessions, their events and their policies.
  static let sessionPaths = #"""
    "/v1/sessions": {
      "post": {
        "operationId": "createSession", "tags": ["sessions"],
        "summary": "Creates and starts a session. If its input is a publisher, the port is bound before the response is sent.",
        "requestBody": {"required": true, "content": {"application/json": {
          "schema": {"$ref": "#/components/schemas/SessionRequest"},
          "example": {"name": "stage", "input": {"url": "rtmp://127.0.0.1:1935/live/KEY"}, "outputs": [{"type": "hls"}], "options": {"frames": "sensor"}}
        }}},
        "responses": {
          "201": {
            "description": "The session, with its publish key. The key is returned only once, in this response.",
            "headers": {"Location": {"$ref": "#/components/headers/Location"}},
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NewSession"}}},
            "links": {
              "getSession": {"operationId": "getSession", "parameters": {"id": "$response.body#/id"}},
              "changeSession": {"operationId": "changeSession", "parameters": {"id": "$response.body#/id"}},
              "endSession": {"operationId": "endSession", "parameters": {"id": "$response.body#/id"}},
              "listOutputs": {"operationId": "listOutputs", "parameters": {"id": "$response.body#/id"}},
              "addOutput": {"operationId": "addOutput", "parameters": {"id": "$response.body#/id"}},
              "postEvents": {"operationId": "postEvents", "parameters": {"id": "$response.body#/id"}},
              "signPlaybackURL": {"operationId": "signPlaybackURL", "parameters": {"id": "$response.body#/id"}}
            }
          },
          "400": {"$ref": "#/components/responses/Problem"},
          "401": {"$ref": "#/components/responses/Problem"},
          "409": {"$ref": "#/components/responses/Problem"},
          "413": {"$ref": "#/components/responses/Problem"},
          "422": {"$ref": "#/components/responses/Problem"},
          "429": {"$ref": "#/components/responses/Problem"},
          "503": {"$ref": "#/components/responses/Problem"}
        }
      },
      "get": {
        "operationId": "listSessions", "tags": ["sessions"],
        "summary": "Lists the sessions, oldest first: all, or those in one of the given states, whose name starts with the given one.",
        "parameters": [
          {"name": "state", "in": "query", "schema": {"type": "array", "items": {"$ref": "#/components/schemas/State"}}, "description": "The states, each as a parameter of its own: state=waiting&state=live."},
          {"name": "name", "in": "query", "schema": {"type": "string"}, "description": "The start of the name."},
          {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 1000}, "description": "The maximum number of sessions. All, if it is missing."},
          {"name": "after", "in": "query", "schema": {"type": "string", "pattern": "^[0-9]{1,15}[.].+$"}, "description": "Where the page begins: the next of the previous answer."}
        ],
        "responses": {
          "200": {
            "description": "The sessions.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Sessions"}}}
          },
          "400": {"$ref": "#/components/responses/Problem"},
          "401": {"$ref": "#/components/responses/Problem"}
        }
      }
    },
    "/v1/sessions/{id}": {
      "parameters": [{"$ref": "#/components/parameters/Session"}],
      "get": {
        "operationId": "getSession", "tags": ["sessions"],
        "summary": "Returns a session with its state and counters.",
        "responses": {
          "200": {"$ref": "#/components/responses/Session"},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"}
        }
      },
      "patch": {
        "operationId": "changeSession", "tags": ["sessions"],
        "summary": "Changes a running session at its next frame: policy, fit, portrait-fit, landscape-fit, background, slate, overlay, bitrate. The input isn't interrupted.",
        "requestBody": {"required": true, "content": {"application/json": {
          "schema": {"$ref": "#/components/schemas/Change"}, "example": {"policy": "portrait", "options": {"fit": "blur", "bitrate": "1M"}}
        }}},
        "responses": {
          "200": {
            "description": "The change has been applied.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Changed"}}}
          },
          "400": {"$ref": "#/components/responses/Problem"},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"},
          "409": {"$ref": "#/components/responses/Problem"},
          "413": {"$ref": "#/components/responses/Problem"},
          "422": {"$ref": "#/components/responses/Problem"},
          "429": {"$ref": "#/components/responses/Problem"}
        }
      },
      "delete": {
        "operationId": "endSession", "tags": ["sessions"],
        "summary": "Ends a running session so that every output is playable (200). Forgets an ended session (204).",
        "parameters": [{"name": "continues", "in": "query", "schema": {"enum": ["true", "false"]}, "description": "Whether the session goes on elsewhere, so that its playlist isn't ended. Default: false."}],
        "responses": {
          "200": {"$ref": "#/components/responses/Session"},
          "204": {"$ref": "#/components/responses/Empty"},
          "400": {"$ref": "#/components/responses/Problem"},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"}
        }
      }
    },
    "/v1/policies": {"get": {
      "operationId": "listPolicies", "tags": ["policies"],
      "summary": "Returns the built-in policies by name.",
      "responses": {
        "200": {"description": "The policies.", "content": {"application/json": {"schema": {
          "type": "object", "required": ["policies"], "additionalProperties": false,
          "properties": {"policies": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Policy"}}}
        }}}},
        "401": {"$ref": "#/components/responses/Problem"}
      }
    }},
    "/v1/explain": {"post": {
      "operationId": "explainPolicy", "tags": ["policies"],
      "summary": "Returns what a policy decides for a list of events, without a session, or the first error in either text.",
      "requestBody": {"required": true, "content": {"application/json": {
        "schema": {"$ref": "#/components/schemas/ExplainRequest"},
        "example": {"policy": "{}", "events": "{\"at\": 1, \"device\": \"landscapeLeft\"}\n"}
      }}},
      "responses": {
        "200": {"description": "The decisions, or an error.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Explanation"}}}},
        "400": {"$ref": "#/components/responses/Problem"},
        "401": {"$ref": "#/components/responses/Problem"},
        "413": {"$ref": "#/components/responses/Problem"}
      }
    }},
    "/v1/sessions/{id}/policy": {
      "parameters": [{"$ref": "#/components/parameters/Session"}],
      "get": {
        "operationId": "getPolicy", "tags": ["sessions"],
        "summary": "Returns the session's policy, and its state at the last frame: which controller decides, and what each answers.",
        "responses": {
          "200": {"description": "The policy.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PolicyState"}}}},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"}
        }
      }
    },
    "/v1/sessions/{id}/events": {
      "parameters": [{"$ref": "#/components/parameters/Session"}],
      "post": {
        "operationId": "postEvents", "tags": ["events"],
        "summary": "Posts events about the device or the app to a session.",
        "requestBody": {"required": true, "content": {"application/json": {
          "schema": {"$ref": "#/components/schemas/Events"}, "example": {"device": "landscapeLeft"}
        }}},
        "responses": {
          "200": {
            "description": "The decisions made so far. The others are sent as server-sent events.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Decisions"}}}
          },
          "400": {"$ref": "#/components/responses/Problem"},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"},
          "409": {"$ref": "#/components/responses/Problem"},
          "413": {"$ref": "#/components/responses/Problem"},
          "422": {"$ref": "#/components/responses/Problem"}
        }
      },
      "get": {
        "operationId": "streamEvents", "tags": ["events"],
        "summary": "Streams the events of a session as server-sent events: decision, phase, format, state, change, output and recording. The event gap means that older events have been dropped.",
        "parameters": [{"name": "Last-Event-ID", "in": "header", "schema": {"type": "string"}, "description": "The id of the last event that was received; the next ones follow."},
          {"name": "after", "in": "query", "schema": {"type": "integer"}, "description": "The same for clients that can't send that header. 0 begins with the oldest event that is kept."}],
        "responses": {
          "200": {"description": "The stream.", "content": {"text/event-stream": {"schema": {"$ref": "#/components/schemas/StreamedEvent"}}}},
          "400": {"$ref": "#/components/responses/Problem"},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"},
          "429": {"$ref": "#/components/responses/Problem"}
        }
      }
    },
    "/v1/lease": {"put": {
      "operationId": "renewLease", "tags": ["sessions"],
      "summary": "Lets the sessions with an epoch run for a time. After it, unless it is renewed, they end without ending their playlists, and new ones are rejected (409). Before the first renewal there is no limit.",
      "requestBody": {"required": true, "content": {"application/json": {
        "schema": {"$ref": "#/components/schemas/LeaseRequest"}, "example": {"seconds": 1.5}
      }}},
      "responses": {
        "200": {
          "description": "The running sessions with an epoch.",
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Lease"}}}
        },
        "400": {"$ref": "#/components/responses/Problem"},
        "401": {"$ref": "#/components/responses/Problem"},
        "413": {"$ref": "#/components/responses/Problem"}
      }
    }}
    """#

  /// The paths of outputs.
  static let outputPaths = #"""
    "/v1/sessions/{id}/outputs": {
      "parameters": [{"$ref": "#/components/parameters/Session"}],
      "get": {
        "operationId": "listOutputs", "tags": ["outputs"],
        "summary": "Lists the outputs of a session with their states.",
        "responses": {
          "200": {
            "description": "The outputs, in the order in which they were added.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Outputs"}}}
          },
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"}
        }
      },
      "post": {
        "operationId": "addOutput", "tags": ["outputs"],
        "summary": "Adds an output to a running session. It starts at the next keyframe, which is requested.",
        "requestBody": {"required": true, "content": {"application/json": {
          "schema": {"$ref": "#/components/schemas/Output"}, "example": {"type": "rtmp", "url": "rtmp://a.example/live/KEY"}
        }}},
        "responses": {
          "201": {
            "description": "The output, as it starts.",
            "headers": {"Location": {"$ref": "#/components/headers/Location"}},
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/OutputState"}}},
            "links": {
              "getOutput": {"operationId": "getOutput", "parameters": {"id": "$request.path.id", "output": "$response.body#/id"}},
              "removeOutput": {"operationId": "removeOutput", "parameters": {"id": "$request.path.id", "output": "$response.body#/id"}},
              "startOutput": {"operationId": "startOutput", "parameters": {"id": "$request.path.id", "output": "$response.body#/id"}},
              "stopOutput": {"operationId": "stopOutput", "parameters": {"id": "$request.path.id", "output": "$response.body#/id"}}
            }
          },
          "400": {"$ref": "#/components/responses/Problem"},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"},
          "409": {"$ref": "#/components/responses/Problem"},
          "413": {"$ref": "#/components/responses/Problem"},
          "422": {"$ref": "#/components/responses/Problem"},
          "429": {"$ref": "#/components/responses/Problem"}
        }
      }
    },
    "/v1/sessions/{id}/outputs/{output}": {
      "parameters": [{"$ref": "#/components/parameters/Session"}, {"$ref": "#/components/parameters/Output"}],
      "get": {
        "operationId": "getOutput", "tags": ["outputs"],
        "summary": "Returns an output with its state and counters.",
        "responses": {
          "200": {"$ref": "#/components/responses/Output"},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"}
        }
      },
      "delete": {
        "operationId": "removeOutput", "tags": ["outputs"],
        "summary": "Closes an output so that it is playable, and forgets it. Its files stay.",
        "responses": {
          "200": {"$ref": "#/components/responses/Output"},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"},
          "409": {"$ref": "#/components/responses/Problem"}
        }
      }
    },
    "/v1/sessions/{id}/outputs/{output}/start": {
      "parameters": [{"$ref": "#/components/parameters/Session"}, {"$ref": "#/components/parameters/Output"}],
      "post": {
        "operationId": "startOutput", "tags": ["outputs"],
        "summary": "Starts an output that was stopped or has failed. Does nothing if it runs.",
        "responses": {
          "200": {"$ref": "#/components/responses/Output"},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"},
          "409": {"$ref": "#/components/responses/Problem"}
        }
      }
    },
    "/v1/sessions/{id}/outputs/{output}/stop": {
      "parameters": [{"$ref": "#/components/parameters/Session"}, {"$ref": "#/components/parameters/Output"}],
      "post": {
        "operationId": "stopOutput", "tags": ["outputs"],
        "summary": "Closes an output so that it is playable. The session goes on. Does nothing if it is stopped.",
        "responses": {
          "200": {"$ref": "#/components/responses/Output"},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"},
          "409": {"$ref": "#/components/responses/Problem"}
        }
      }
    }
    """#
}
