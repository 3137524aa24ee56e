/// The API's description (OpenAPI 3.1), as it is served: JSON, which YAML 1.2 holds whole.
///
/// Kept true by a test that provokes every status it lists.
enum OpenAPIDocument {
  static let text = """
    {
    "openapi": "3.1.0",
    "info": {
      "title": "Upright live service",
      "version": "1.0.0",
      "description": "Live sessions that turn a stream upright: made, told of turns, watched and ended."
    },
    "security": [{"token": []}],
    "paths": \(paths),
    "components": {
      "securitySchemes": {"token": {
        "type": "http", "scheme": "bearer",
        "description": "The admin token; for one session's state and events its publish key as well."
      }},
      "responses": \(responses),
      "schemas": \(schemas)
    }
    }

    """

  private static let responses = #"""
    {
      "Problem": {
        "description": "What went wrong (RFC 9457). 429 and 503 have Retry-After. A method that a path does not have is answered 405, with Allow.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
      },
      "Session": {
        "description": "The session.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Session"}}}
      },
      "Empty": {"description": "Done; nothing to say."},
      "Text": {"description": "Plain text.", "content": {"text/plain": {"schema": {"type": "string"}}}},
      "Media": {
        "description": "A playlist (Cache-Control: no-cache) or a segment (immutable).",
        "content": {
          "application/vnd.apple.mpegurl": {"schema": {"type": "string"}},
          "video/mp4": {"schema": {"type": "string"}},
          "video/iso.segment": {"schema": {"type": "string"}},
          "video/mp2t": {"schema": {"type": "string"}}
        }
      }
    }
    """#
}
