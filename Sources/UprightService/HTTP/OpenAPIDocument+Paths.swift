extension OpenAPIDocument {
  static let paths = #"""
    {
      "/": {"get": {
        "summary": "A page that says what this is.", "security": [],
        "responses": {"200": {"description": "HTML.", "content": {"text/html": {"schema": {"type": "string"}}}}}
      }},
      "/healthz": {"get": {
        "summary": "Whether the process lives.", "security": [],
        "responses": {"200": {"$ref": "#/components/responses/Text"}}
      }},
      "/readyz": {"get": {
        "summary": "Whether it takes work.", "security": [],
        "responses": {
          "200": {"$ref": "#/components/responses/Text"},
          "503": {"$ref": "#/components/responses/Problem"}
        }
      }},
      "/openapi.yaml": {"get": {
        "summary": "This document.", "security": [],
        "responses": {"200": {"description": "YAML.", "content": {"application/yaml": {"schema": {"type": "string"}}}}}
      }},
      "/metrics": {"get": {
        "summary": "Counters, as Prometheus reads them (text format 0.0.4).",
        "responses": {
          "200": {"$ref": "#/components/responses/Text"},
          "401": {"$ref": "#/components/responses/Problem"}
        }
      }},
      "/v1/sessions": {
        "post": {
          "summary": "Makes a session. Where it awaits a publisher, the port is bound when this is answered.",
          "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/SessionRequest"}}}},
          "responses": {
            "201": {
              "description": "The session, with its publish key, which is said this once.",
              "headers": {"Location": {"schema": {"type": "string"}}},
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NewSession"}}}
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
          "summary": "All sessions, the oldest first.",
          "responses": {
            "200": {
              "description": "The sessions.",
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Sessions"}}}
            },
            "401": {"$ref": "#/components/responses/Problem"}
          }
        }
      },
      "/v1/sessions/{id}": {
        "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
        "get": {
          "summary": "A session: its state and what it counted.",
          "responses": {
            "200": {"$ref": "#/components/responses/Session"},
            "401": {"$ref": "#/components/responses/Problem"},
            "404": {"$ref": "#/components/responses/Problem"}
          }
        },
        "delete": {
          "summary": "Ends a session, every output so that it plays (200); forgets one that is over (204).",
          "responses": {
            "200": {"$ref": "#/components/responses/Session"},
            "204": {"$ref": "#/components/responses/Empty"},
            "401": {"$ref": "#/components/responses/Problem"},
            "404": {"$ref": "#/components/responses/Problem"}
          }
        }
      },
      "/v1/sessions/{id}/events": {
        "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
        "post": {
          "summary": "Tells a session what happened to the device or in the app.",
          "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Events"}}}},
          "responses": {
            "200": {
              "description": "The decisions that could be made at once; the others come as server-sent events.",
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
          "summary": "What a session tells, as server-sent events: decision, phase, format, state; gap where some are not kept any more.",
          "parameters": [{"name": "Last-Event-ID", "in": "header", "schema": {"type": "integer"}}],
          "responses": {
            "200": {"description": "The stream.", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
            "401": {"$ref": "#/components/responses/Problem"},
            "404": {"$ref": "#/components/responses/Problem"},
            "429": {"$ref": "#/components/responses/Problem"}
          }
        }
      },
      "/live/{id}/{name}": {
        "parameters": [
          {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
          {"name": "name", "in": "path", "required": true, "schema": {"type": "string"}, "example": "index.m3u8"}
        ],
        "get": {
          "summary": "A playlist or a segment of a session's HLS.", "security": [],
          "parameters": [{"name": "Range", "in": "header", "schema": {"type": "string"}}],
          "responses": {
            "200": {"$ref": "#/components/responses/Media"},
            "206": {"$ref": "#/components/responses/Media"},
            "404": {"$ref": "#/components/responses/Problem"},
            "416": {"$ref": "#/components/responses/Empty"}
          }
        },
        "head": {
          "summary": "The same without its body.", "security": [],
          "responses": {
            "200": {"$ref": "#/components/responses/Empty"},
            "404": {"$ref": "#/components/responses/Problem"}
          }
        },
        "options": {
          "summary": "What a page of another origin may ask for.", "security": [],
          "responses": {"204": {"$ref": "#/components/responses/Empty"}}
        }
      },
      "/v1/webhooks": {
        "post": {
          "summary": "From now on turns, formats and states are POSTed to a URL, whose host is in allowHosts.",
          "description": "Each message is signed: Upright-Signature: t=SECONDS,v1=HEX, where HEX is HMAC-SHA-256 with the secret over SECONDS.BODY. One that is not taken is tried again with growing waits; Upright-Delivery is the same in each try.",
          "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/WebhookRequest"}}}},
          "responses": {
            "201": {
              "description": "The webhook, with its secret, which is said this once.",
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NewWebhook"}}}
            },
            "400": {"$ref": "#/components/responses/Problem"},
            "401": {"$ref": "#/components/responses/Problem"},
            "413": {"$ref": "#/components/responses/Problem"},
            "422": {"$ref": "#/components/responses/Problem"},
            "429": {"$ref": "#/components/responses/Problem"}
          }
        },
        "get": {
          "summary": "All webhooks.",
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
        "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
        "delete": {
          "summary": "Tells it no more.",
          "responses": {
            "204": {"$ref": "#/components/responses/Empty"},
            "401": {"$ref": "#/components/responses/Problem"},
            "404": {"$ref": "#/components/responses/Problem"}
          }
        }
      }
    }
    """#
}
