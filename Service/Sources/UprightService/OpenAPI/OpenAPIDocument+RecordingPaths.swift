extension OpenAPIDocument {
  /// The paths of recordings.
  static let recordingPaths = #"""
    "/v1/recordings": {"get": {
      "operationId": "listRecordings", "tags": ["recordings"],
      "summary": "Lists recordings, the one that was changed last first.",
      "parameters": [
        {"name": "session", "in": "query", "schema": {"type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$"}, "description": "Lists only those of this session."},
        {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}, "description": "The largest number of recordings in the answer."},
        {"name": "after", "in": "query", "schema": {"type": "string", "pattern": "^[0-9]{1,19}~[A-Za-z0-9._~-]*$"}, "description": "The next of the page before this one."}
      ],
      "responses": {
        "200": {
          "description": "The recordings.",
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Recordings"}}}
        },
        "400": {"$ref": "#/components/responses/Problem"},
        "401": {"$ref": "#/components/responses/Problem"}
      }
    }},
    "/v1/recordings/{id}": {
      "parameters": [{"$ref": "#/components/parameters/Recording"}],
      "get": {
        "operationId": "getRecording", "tags": ["recordings"],
        "summary": "Returns a recording.",
        "responses": {
          "200": {
            "description": "The recording.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Recording"}}}
          },
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"}
        }
      },
      "delete": {
        "operationId": "deleteRecording", "tags": ["recordings"],
        "summary": "Removes a recording. Downloads that have begun continue. 409 while it is being written.",
        "responses": {
          "204": {"$ref": "#/components/responses/Empty"},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"},
          "409": {"$ref": "#/components/responses/Problem"}
        }
      }
    },
    "/v1/recordings/{id}/file": {
      "parameters": [{"$ref": "#/components/parameters/Recording"}],
      "get": {
        "operationId": "downloadRecording", "tags": ["recordings"],
        "summary": "Downloads a recording, or a part of it. One that is being written is returned as far as it is on the disk.",
        "parameters": [
          {"$ref": "#/components/parameters/Range"},
          {"name": "If-Range", "in": "header", "schema": {"type": "string"}},
          {"name": "If-None-Match", "in": "header", "schema": {"type": "string"}}
        ],
        "responses": {
          "200": {"$ref": "#/components/responses/RecordingFile"},
          "206": {"$ref": "#/components/responses/RecordingFile"},
          "304": {"$ref": "#/components/responses/Empty"},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"},
          "416": {"$ref": "#/components/responses/Empty"}
        }
      },
      "head": {
        "operationId": "headRecording", "tags": ["recordings"],
        "summary": "Returns the headers of GET without the body.",
        "responses": {
          "200": {"$ref": "#/components/responses/Empty"},
          "401": {"$ref": "#/components/responses/Problem"},
          "404": {"$ref": "#/components/responses/Problem"}
        }
      }
    }
    """#

  static let recordingResponse = #"""
    "RecordingFile": {
      "description": "The file, with ETag and Content-Disposition.",
      "content": {
        "video/mp4": {"schema": {"type": "string", "format": "binary"}},
        "video/quicktime": {"schema": {"type": "string", "format": "binary"}},
        "video/matroska": {"schema": {"type": "string", "format": "binary"}},
        "video/mp2t": {"schema": {"type": "string", "format": "binary"}},
        "video/x-flv": {"schema": {"type": "string", "format": "binary"}}
      }
    }
    """#

  static let recordingSchemas = #"""
    "Recordings": {
      "type": "object", "required": ["recordings"], "additionalProperties": false,
      "properties": {
        "recordings": {"type": "array", "items": {"$ref": "#/components/schemas/Recording"}},
        "next": {"type": "string", "description": "The value of after for the next page. Missing on the last page."}
      }
    },
    "Recording": {
      "type": "object",
      "required": ["id", "session", "name", "container", "state", "problem", "size", "started", "ended", "duration", "frames", "report"],
      "additionalProperties": false,
      "properties": {
        "id": {"type": "string", "description": "The names of the session and of the file: stage~take-2.mp4."},
        "session": {"type": "string"},
        "name": {"type": "string", "description": "The name of the file."},
        "container": {"enum": ["mp4", "mov", "matroska", "mpegts", "flv"]},
        "state": {"enum": ["recording", "finished", "failed", "interrupted"], "description": "interrupted: the service was killed while it wrote the file. A file that has failed or was interrupted is playable up to its last segment."},
        "problem": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "Why it has failed."},
        "size": {"type": "integer", "description": "The size of the file in bytes."},
        "started": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}], "description": "null if it is unknown, like duration, frames and report: the file was put into the folder by hand."},
        "ended": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}], "description": "null while it is written."},
        "duration": {"anyOf": [{"type": "number"}, {"type": "null"}], "description": "The duration in seconds; so far, while it is written."},
        "frames": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "The number of frames; so far, while it is written."},
        "report": {"anyOf": [{"$ref": "#/components/schemas/RecordingReport"}, {"type": "null"}]}
      }
    },
    "RecordingReport": {
      "type": "object", "required": ["start", "dropped", "inputLosses", "rotations"],
      "additionalProperties": false,
      "properties": {
        "start": {"type": "number", "description": "The media time of the file's first frame in the session, in seconds. In the file it is 0."},
        "dropped": {"type": "integer", "description": "The number of frames that are missing because the output did not take them."},
        "inputLosses": {"type": "integer", "description": "How often the input was lost."},
        "rotations": {
          "type": "array", "maxItems": 1000, "description": "The rotations, the last 1000 if there are more.",
          "items": {
            "type": "object", "required": ["at", "from", "to"], "additionalProperties": false,
            "properties": {
              "at": {"type": "number", "description": "The time in the file, in seconds."},
              "from": {"type": "string"}, "to": {"type": "string"}
            }
          }
        }
      }
    }
    """#
}
