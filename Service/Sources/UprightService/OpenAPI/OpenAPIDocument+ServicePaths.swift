extension OpenAPIDocument {
  /// The paths of the service itself.
  static let servicePaths = #"""
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
    }}
    """#

  /// The paths of webhooks.
  static let webhookPaths = #"""
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
    }
    """#
}
