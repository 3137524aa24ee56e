/// The OpenAPI 3.1 description of the API. It is JSON, which is a subset of YAML 1.2.
///
/// A test causes every status that it lists.
enum OpenAPIDocument {
  /// Returns the document of the service at `address`.
  static func text(at address: PublicURL) -> String {
    let server = address == .relative ? "/" : address.of("")
    return """
      {
      "openapi": "3.1.0",
      "info": {
        "title": "Upright live service",
        "version": "1.0.0",
        "description": "Creates, controls, monitors and ends live sessions, which rotate the frames of a stream upright."
      },
      "servers": [{"url": "\(server)"}],
      "security": [{"token": []}, {"login": []}],
      "paths": {
      \(paths.joined(separator: ",\n"))
      },
      "components": {
        "securitySchemes": {"token": {
          "type": "http", "scheme": "bearer",
          "description": "The admin token. For the state and events of one session, and to publish to it by WHIP, its publish key is accepted too."
        }, "login": {
          "type": "apiKey", "in": "cookie", "name": "upright-ID",
          "description": "The cookie that POST /v1/login sets; the ID is that of the service."
        }},
        "parameters": \(parameters),
        "headers": {"Location": {"required": true, "schema": {"type": "string", "format": "uri-reference"}}},
        "responses": \(responses),
        "schemas": \(schemas)
      }
      }

      """
  }

  /// Each is a list of members of the object of all paths.
  private static let paths = [
    servicePaths, consolePaths, sessionPaths, outputPaths, playbackPaths, publishingPaths,
    webhookPaths, recordingPaths,
  ]

  private static let parameters = #"""
    {
      "Session": {
        "name": "id", "in": "path", "required": true, "schema": {"type": "string"},
        "description": "The name of a session."
      },
      "Output": {
        "name": "output", "in": "path", "required": true, "schema": {"type": "string"},
        "description": "The ID of an output."
      },
      "Webhook": {
        "name": "id", "in": "path", "required": true, "schema": {"type": "string"},
        "description": "The ID of a webhook."
      },
      "Recording": {
        "name": "id", "in": "path", "required": true, "schema": {"type": "string"}, "example": "stage~take.mp4",
        "description": "The ID of a recording."
      },
      "Publication": {
        "name": "publication", "in": "path", "required": true, "schema": {"type": "string"},
        "description": "The last component of the Location of an answer."
      },
      "LiveFile": {
        "name": "name", "in": "path", "required": true, "schema": {"type": "string"}, "example": "index.m3u8",
        "description": "The name of a playlist or segment."
      },
      "ConsoleFile": {
        "name": "name", "in": "path", "required": true, "schema": {"type": "string"}, "example": "app.js",
        "description": "The name of a file."
      },
      "MSN": {
        "name": "_HLS_msn", "in": "query", "schema": {"type": "integer", "minimum": 0, "maximum": 999999999999999999},
        "description": "Of a session with low latency: wait until the playlist has the segment with this media sequence number, for at most three target durations."
      },
      "Part": {
        "name": "_HLS_part", "in": "query", "schema": {"type": "integer", "minimum": 0, "maximum": 999999999999999999},
        "description": "Wait for this part of that segment. Needs _HLS_msn."
      },
      "Skip": {
        "name": "_HLS_skip", "in": "query", "schema": {"enum": ["YES", "v2"]},
        "description": "Return a delta update, without the oldest segments."
      },
      "Range": {
        "name": "Range", "in": "header", "schema": {"type": "string"}, "example": "bytes=0-1023",
        "description": "The part of the file to return (RFC 9110, 14.2)."
      }
    }
    """#

  private static let responses = #"""
    {
      "Problem": {
        "description": "An error (RFC 9457). 429 and 503 have Retry-After. A method that a path doesn't support gets 405, with Allow.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
      },
      "Session": {
        "description": "The session.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Session"}}}
      },
      "Output": {
        "description": "The output.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/OutputState"}}}
      },
      \#(recordingResponse),
      "Empty": {"description": "Success, without a body."},
      "Text": {"description": "Plain text.", "content": {"text/plain": {"schema": {"type": "string"}}}},
      "Media": {
        "description": "A playlist (Cache-Control: no-cache, or max-age with low latency), or a segment or part (immutable). With ETag.",
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
