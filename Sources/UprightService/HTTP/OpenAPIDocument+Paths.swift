extension OpenAPIDocument {
  static let paths = #"""
    {
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
      "/healthz": {"get": {
        "operationId": "checkHealth", "tags": ["service"],
        "summary": "Returns 200 while the process runs.", "security": [],
        "responses": {"200": {"$ref": "#/components/responses/Text"}}
      }},
      "/readyz": {"get": {
        "operationId": "checkReadiness", "tags": ["service"],
        "summary": "Returns 200 if the service accepts new sessions.", "security": [],
        "responses": {
          "200": {"$ref": "#/components/responses/Text"},
          "503": {"$ref": "#/components/responses/Problem"}
        }
      }},
      "/openapi.yaml": {"get": {
        "operationId": "describeAPI", "tags": ["service"],
        "summary": "Returns this document.", "security": [],
        "responses": {"200": {"description": "YAML.", "content": {"application/yaml": {"schema": {"type": "object"}}}}}
      }},
      "/metrics": {"get": {
        "operationId": "readMetrics", "tags": ["service"],
        "summary": "Returns metrics in the Prometheus text format 0.0.4.",
        "responses": {
          "200": {"$ref": "#/components/responses/Text"},
          "401": {"$ref": "#/components/responses/Problem"}
        }
      }},
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
      },
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
      }},
      "/v1/sessions/{id}/playback-url": {
        "parameters": [{"$ref": "#/components/parameters/Session"}],
        "post": {
          "operationId": "signPlaybackURL", "tags": ["playback"],
          "summary": "Returns a signed URL of the session's playlist, for players of a session whose playback is signed.",
          "requestBody": {"required": true, "content": {"application/json": {
            "schema": {"$ref": "#/components/schemas/PlaybackURLRequest"}, "example": {"seconds": 3600}
          }}},
          "responses": {
            "200": {
              "description": "The URL.",
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PlaybackURL"}}}
            },
            "400": {"$ref": "#/components/responses/Problem"},
            "401": {"$ref": "#/components/responses/Problem"},
            "404": {"$ref": "#/components/responses/Problem"},
            "413": {"$ref": "#/components/responses/Problem"}
          }
        }
      },
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
      "/live/{id}/{name}": {
        "parameters": [{"$ref": "#/components/parameters/Session"}, {"$ref": "#/components/parameters/LiveFile"}],
        "get": {
          "operationId": "getLiveFile", "tags": ["playback"],
          "summary": "Returns a playlist or segment of a session's HLS output, unless the session's playback is signed.", "security": [],
          "parameters": [
            {"$ref": "#/components/parameters/MSN"}, {"$ref": "#/components/parameters/Part"},
            {"$ref": "#/components/parameters/Skip"}, {"$ref": "#/components/parameters/Range"}
          ],
          "responses": {
            "200": {"$ref": "#/components/responses/Media"},
            "206": {"$ref": "#/components/responses/Media"},
            "304": {"$ref": "#/components/responses/Empty"},
            "400": {"$ref": "#/components/responses/Problem"},
            "403": {"$ref": "#/components/responses/Problem"},
            "404": {"$ref": "#/components/responses/Problem"},
            "416": {"$ref": "#/components/responses/Empty"},
            "503": {"$ref": "#/components/responses/Problem"}
          }
        },
        "head": {
          "operationId": "headLiveFile", "tags": ["playback"],
          "summary": "Returns the headers of GET without the body.", "security": [],
          "responses": {
            "200": {"$ref": "#/components/responses/Empty"},
            "403": {"$ref": "#/components/responses/Problem"},
            "404": {"$ref": "#/components/responses/Problem"}
          }
        },
        "options": {
          "operationId": "preflightLiveFile", "tags": ["playback"],
          "summary": "Answers a CORS preflight request.", "security": [],
          "responses": {"204": {"$ref": "#/components/responses/Empty"}}
        }
      },
      "/live/{id}/~{signature}/{name}": {
        "parameters": [
          {"$ref": "#/components/parameters/Session"},
          {"name": "signature", "in": "path", "required": true, "schema": {"type": "string"}, "description": "EXPIRES.KEY.SIGNATURE: the time until which the URL is valid, in seconds since 1970; the ID of a key; and the HMAC-SHA-256 of the path before the second dot (/live/ID/~EXPIRES.KEY) with that key, in base64url without padding."},
          {"$ref": "#/components/parameters/LiveFile"}
        ],
        "get": {
          "operationId": "getSignedLiveFile", "tags": ["playback"],
          "summary": "Returns a playlist or segment of a session's HLS output. The relative URLs of a playlist contain the same signature.", "security": [],
          "parameters": [
            {"$ref": "#/components/parameters/MSN"}, {"$ref": "#/components/parameters/Part"},
            {"$ref": "#/components/parameters/Skip"}, {"$ref": "#/components/parameters/Range"}
          ],
          "responses": {
            "200": {"$ref": "#/components/responses/Media"},
            "206": {"$ref": "#/components/responses/Media"},
            "304": {"$ref": "#/components/responses/Empty"},
            "400": {"$ref": "#/components/responses/Problem"},
            "403": {"$ref": "#/components/responses/Problem"},
            "404": {"$ref": "#/components/responses/Problem"},
            "416": {"$ref": "#/components/responses/Empty"},
            "503": {"$ref": "#/components/responses/Problem"}
          }
        },
        "head": {
          "operationId": "headSignedLiveFile", "tags": ["playback"],
          "summary": "Returns the headers of GET without the body.", "security": [],
          "responses": {
            "200": {"$ref": "#/components/responses/Empty"},
            "403": {"$ref": "#/components/responses/Problem"},
            "404": {"$ref": "#/components/responses/Problem"}
          }
        },
        "options": {
          "operationId": "preflightSignedLiveFile", "tags": ["playback"],
          "summary": "Answers a CORS preflight request.", "security": [],
          "responses": {"204": {"$ref": "#/components/responses/Empty"}}
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
      },
      "/v1/webhooks": {
        "post": {
          "operationId": "addWebhook", "tags": ["webhooks"],
          "summary": "Adds a webhook. Rotations, format changes, state changes and finished recordings are POSTed to its URL, whose host must be in allowHosts.",
          "description": "Each message is signed: Upright-Signature: t=SECONDS,v1=HEX, where HEX is HMAC-SHA-256 with the secret over SECONDS.BODY. A failed delivery is retried with growing delays. Upright-Delivery is the same in each attempt. Redirects aren't followed. An https: URL with an address as its host is refused with 422, because its certificate can't be verified.",
          "requestBody": {"required": true, "content": {"application/json": {
            "schema": {"$ref": "#/components/schemas/WebhookRequest"}, "example": {"url": "https://example.com/hook", "events": ["state"]}
          }}},
          "responses": {
            "201": {
              "description": "The webhook, with its secret. The secret is returned only once, in this response.",
              "headers": {"Location": {"$ref": "#/components/headers/Location"}},
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NewWebhook"}}},
              "links": {"removeWebhook": {"operationId": "removeWebhook", "parameters": {"id": "$response.body#/id"}}}
            },
            "400": {"$ref": "#/components/responses/Problem"},
            "401": {"$ref": "#/components/responses/Problem"},
            "413": {"$ref": "#/components/responses/Problem"},
            "422": {"$ref": "#/components/responses/Problem"},
            "429": {"$ref": "#/components/responses/Problem"}
          }
        },
        "get": {
          "operationId": "listWebhooks", "tags": ["webhooks"],
          "summary": "Lists all webhooks.",
          "responses": {
            "200": {
              "description": "The webhooks.",
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Webhooks"}}}
            },
            "401": {"$ref": "#/components/responses/Problem"}
          }
        }
      },
      "/v1/webhooks/{id}": {
        "parameters": [{"$ref": "#/components/parameters/Webhook"}],
        "delete": {
          "operationId": "removeWebhook", "tags": ["webhooks"],
          "summary": "Removes a webhook.",
          "responses": {
            "204": {"$ref": "#/components/responses/Empty"},
            "401": {"$ref": "#/components/responses/Problem"},
            "404": {"$ref": "#/components/responses/Problem"}
          }
        }
      },
      \#(recordingPaths)
    }
    """#
}
