extension OpenAPIDocument {
  /// The paths of files that players load.
  static let playbackPaths = #"""
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
    "/live/{id}/{name}": {
      "parameters": [{"$ref": "#/components/parameters/Session"}, {"$ref": "#/components/parameters/LiveFile"}],
    \#(liveFile("LiveFile", note: ", unless the session's playback is signed."))
    },
    "/live/{id}/~{signature}/{name}": {
      "parameters": [
        {"$ref": "#/components/parameters/Session"},
        {"name": "signature", "in": "path", "required": true, "schema": {"type": "string"}, "description": "EXPIRES.KEY.SIGNATURE: the time until which the URL is valid, in seconds since 1970; the ID of a key; and the HMAC-SHA-256 of the path before the second dot (/live/ID/~EXPIRES.KEY) with that key, in base64url without padding."},
        {"$ref": "#/components/parameters/LiveFile"}
      ],
    \#(liveFile("SignedLiveFile", note: ". The relative URLs of a playlist contain the same signature."))
    }
    """#

  /// The methods of a live file's path.
  ///
  /// - Parameters:
  ///   - name: What the names of the operations end with.
  ///   - note: The end of the summary of `get`.
  private static func liveFile(_ name: String, note: String) -> String {
    #"""
      "get": {
        "operationId": "get\#(name)", "tags": ["playback"],
        "summary": "Returns a playlist or segment of a session's HLS output\#(note)", "security": [],
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
        "operationId": "head\#(name)", "tags": ["playback"],
        "summary": "Returns the headers of GET without the body.", "security": [],
        "responses": {
          "200": {"$ref": "#/components/responses/Empty"},
          "403": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"}
        }
      },
      "options": {
        "operationId": "preflight\#(name)", "tags": ["playback"],
        "summary": "Answers a CORS preflight request.", "security": [],
        "responses": {"204": {"$ref": "#/components/responses/Empty"}}
      }
    """#
  }
}
