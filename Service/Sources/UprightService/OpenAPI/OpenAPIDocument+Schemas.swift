extension OpenAPIDocument {
  static let schemas = #"""
    {
      "Problem": {
        "type": "object",
        "required": ["type", "title", "status", "detail"],
        "additionalProperties": false,
        "properties": {
          "type": {"type": "string"},
          "title": {"type": "string"},
          "status": {"type": "integer"},
          "detail": {"type": "string", "description": "The cause, and how to fix it."},
          "retryAfter": {"type": "integer", "description": "The time after which to retry, in seconds."}
        }
      },
      "SessionRequest": {
        "type": "object",
        "required": ["input"],
        "additionalProperties": false,
        "properties": {
          "name": {"$ref": "#/components/schemas/Name"},
          "input": {"$ref": "#/components/schemas/Input"},
          "outputs": {"type": "array", "minItems": 1, "maxItems": 8, "uniqueItems": true, "items": {"$ref": "#/components/schemas/Output"}, "description": "HLS only, if it is missing."},
          "policy": {
            "description": "A policy, or the name of a built-in policy. Default: phone.",
            "anyOf": [{"type": "string"}, {"$ref": "#/components/schemas/Policy"}]
          },
          "options": {
            "type": "object",
            "description": "Long options of the command line, by name: {\"size\": \"720p\", \"level\": true}.",
            "additionalProperties": {"anyOf": [
              {"type": "string"}, {"type": "number"}, {"type": "boolean"},
              {"type": "array", "items": {"type": "string"}}
            ]}
          },
          "inputTimeout": {"type": "number", "minimum": 1, "maximum": 86400, "description": "The time without input after which the session ends, in seconds. Default: 60."},
          "playback": {"$ref": "#/components/schemas/Playback"},
          "latency": {"$ref": "#/components/schemas/Latency"},
          "epoch": {"$ref": "#/components/schemas/Epoch"}
        }
      },
      "Epoch": {
        "type": "integer", "minimum": 1, "maximum": 9007199254740991,
        "description": "The number of the session's owner, for a session that may move to another machine. Its HLS is in the origin of the service's hlsOrigin, where it continues that of the owner before; an owner with a lower epoch can't write there any more."
      },
      "LeaseRequest": {
        "type": "object", "required": ["seconds"], "additionalProperties": false,
        "properties": {"seconds": {"type": "number", "minimum": 0.1, "maximum": 60, "description": "The time from now after which the sessions with an epoch end."}}
      },
      "Lease": {
        "type": "object", "required": ["sessions"], "additionalProperties": false,
        "properties": {"sessions": {"type": "array", "items": {
          "type": "object", "required": ["id", "epoch"], "additionalProperties": false,
          "properties": {"id": {"type": "string"}, "epoch": {"$ref": "#/components/schemas/Epoch"}}
        }}}
      },
      "Latency": {
        "enum": ["normal", "low"],
        "description": "Whether the HLS output has parts for players with low latency. It needs segments in fragmented MP4. Default: normal."
      },
      "Policy": {"type": "object", "description": "`upright schema policy` prints the schema of a policy."},
      "Playback": {
        "enum": ["open", "signed"],
        "description": "Who may play the HLS output: everyone, or players with a signed URL. Default: the setting of the service, which is open unless it is configured."
      },
      "PlaybackURLRequest": {
        "type": "object", "required": ["seconds"], "additionalProperties": false,
        "properties": {"seconds": {"type": "integer", "minimum": 1, "maximum": 604800, "description": "The time until the URL expires, in seconds."}}
      },
      "PlaybackURL": {
        "type": "object", "required": ["url", "expires"], "additionalProperties": false,
        "properties": {
          "url": {"type": "string"},
          "expires": {"type": "integer", "description": "The time until which it is valid, in seconds since 1970."}
        }
      },
      "PublishURLRequest": {
        "type": "object", "required": ["seconds"], "additionalProperties": false,
        "properties": {"seconds": {"type": "integer", "minimum": 1, "maximum": 604800, "description": "The time until the link expires, in seconds."}}
      },
      "PublishURL": {
        "type": "object", "required": ["url", "expires", "qr"], "additionalProperties": false,
        "properties": {
          "url": {"type": "string", "description": "The link. It has a code in its fragment."},
          "expires": {"type": "integer", "description": "The time until which it can be used, in seconds since 1970."},
          "qr": {
            "description": "The link as a QR code; null if it is too long for one.",
            "anyOf": [{"type": "null"}, {
              "type": "object", "required": ["size", "path"], "additionalProperties": false,
              "properties": {
                "size": {"type": "integer", "description": "The number of modules on a side, without the quiet zone of four."},
                "path": {"type": "string", "description": "The dark modules, as the path of an SVG with one unit for each module."}
              }
            }]
          }
        }
      },
      "PublishToken": {
        "type": "object", "required": ["token", "expires"], "additionalProperties": false,
        "properties": {
          "token": {"type": "string"},
          "expires": {"type": "integer", "description": "The time until which it is valid, in seconds since 1970."}
        }
      },
      "Name": {
        "type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$",
        "description": "Generated if it is missing."
      },
      "Input": {"anyOf": [
        {"$ref": "#/components/schemas/URLInput"}, {"$ref": "#/components/schemas/RTPInput"},
        {"$ref": "#/components/schemas/WHIPInput"}
      ]},
      "URLInput": {
        "type": "object", "required": ["url"], "additionalProperties": false,
        "properties": {
          "url": {"type": "string", "description": "rtmp, rtmps, srt, rtsp, udp, http, https, or file:NAME in the data folder."},
          "repeat": {"type": "boolean", "description": "Whether a file starts again when it ends. Media time goes on."},
          "mode": {"enum": ["listen", "pull"], "description": "Whether the service waits for a connection or connects itself. Default: listen for rtmp and srt, pull for the others. rtmps can listen if the service has a certificate."}
        }
      },
      "RTPInput": {
        "type": "object", "required": ["sdp"], "additionalProperties": false,
        "properties": {"sdp": {"type": "string", "description": "The session description of an RTP stream (RFC 8866)."}}
      },
      "WHIPInput": {
        "type": "object", "required": ["whip"], "additionalProperties": false,
        "properties": {"whip": {
          "type": "object", "additionalProperties": false,
          "description": "A publisher connects at /whip/{id} (RFC 9725). The service needs a WebRTC server.",
          "properties": {"bitrate": {"type": "integer", "minimum": 50000, "maximum": 100000000, "description": "The limit for the video, in bits per second. Default: none."}}
        }}
      },
      "Output": {"anyOf": [
        {"$ref": "#/components/schemas/HLSOutput"}, {"$ref": "#/components/schemas/PushOutput"},
        {"$ref": "#/components/schemas/FileOutput"}
      ]},
      "HLSOutput": {
        "type": "object", "required": ["type"], "additionalProperties": false,
        "properties": {"id": {"$ref": "#/components/schemas/Name"}, "type": {"const": "hls"}, "canvas": {"$ref": "#/components/schemas/Canvas"}}
      },
      "Canvas": {"enum": ["portrait", "landscape"], "description": "The canvas of this output, instead of that of the session. In a session with the canvas dual, an RTMP, RTSP, SRT or UDP output needs it; without it, HLS has playlists of both, and a file becomes two, NAME-portrait.EXT and NAME-landscape.EXT."},
      "PushOutput": {
        "type": "object", "required": ["type", "url"], "additionalProperties": false,
        "properties": {
          "id": {"$ref": "#/components/schemas/Name"}, "type": {"enum": ["rtmp", "rtsp", "srt", "udp"]}, "canvas": {"$ref": "#/components/schemas/Canvas"},
          "url": {"type": "string", "description": "A URL of that type; for rtmp also rtmps."}
        }
      },
      "FileOutput": {
        "type": "object", "required": ["type", "name"], "additionalProperties": false,
        "properties": {
          "id": {"$ref": "#/components/schemas/Name"}, "type": {"const": "file"}, "canvas": {"$ref": "#/components/schemas/Canvas"},
          "name": {"type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$", "description": "The first file: take.mp4. If there is one, it becomes take-2.mp4, and so on."},
          "segmentDuration": {"anyOf": [{"type": "number"}, {"type": "string"}], "description": "The duration at which another file begins, with a keyframe: seconds, or text such as 10m. 1 s to 1 d."},
          "segmentSize": {"anyOf": [{"type": "integer"}, {"type": "string"}], "description": "The size at which another file begins, with a keyframe: bytes, or text such as 2G (2 * 1024^3). 1M to 1T."}
        }
      },
      "State": {"enum": ["waiting", "live", "inputLost", "ended", "failed"]},
      "Session": {
        "type": "object",
        "required": ["id", "state", "reason", "created", "overloaded", "behind", "input", "options", "outputs", "playback", "latency", "appOrientation", "encodeResolution", "layouts", "seconds", "counters"],
        "additionalProperties": false,
        "properties": {
          "id": {"type": "string"},
          "state": {"$ref": "#/components/schemas/State"},
          "reason": {"anyOf": [{"type": "string"}, {"type": "null"}]},
          "created": {"type": "number", "description": "The creation time, in seconds since 1970."},
          "overloaded": {"type": "boolean", "description": "Whether the session is too slow for its input and drops frames."},
          "behind": {"type": "number", "description": "The delay behind the input while overloaded, in seconds; otherwise 0."},
          "input": {
            "type": "object", "required": ["url", "mode"], "additionalProperties": false,
            "properties": {"url": {"type": "string", "description": "The URL without secrets."}, "mode": {"enum": ["listen", "pull"]}}
          },
          "options": {"type": "object", "description": "The options, as they were given and changed since."},
          "outputs": {"type": "array", "items": {"$ref": "#/components/schemas/OutputState"}},
          "playback": {"$ref": "#/components/schemas/Playback"},
          "latency": {"$ref": "#/components/schemas/Latency"},
          "epoch": {"$ref": "#/components/schemas/Epoch"},
          "appOrientation": {"anyOf": [{"type": "string"}, {"type": "null"}]},
          "encodeResolution": {"anyOf": [{"type": "string"}, {"type": "null"}]},
          "layouts": {"type": "array", "items": {"$ref": "#/components/schemas/Layout"}, "description": "How each canvas shows the last frame."},
          "seconds": {"type": "number", "description": "The media time of the last frame, in seconds."},
          "counters": {"$ref": "#/components/schemas/Counters"}
        }
      },
      "Layout": {
        "type": "object", "required": ["canvas", "part", "place"], "additionalProperties": false,
        "description": "How a canvas shows the upright frame.",
        "properties": {
          "canvas": {"type": "string", "description": "The size of the canvas, as in 720x1280."},
          "part": {"$ref": "#/components/schemas/Part", "description": "The part of the upright frame that is shown, in the units of a focus event."},
          "place": {"$ref": "#/components/schemas/Part", "description": "The part of the canvas that shows it. The rest is background."}
        }
      },
      "Part": {
        "type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}, "minItems": 4, "maxItems": 4,
        "description": "Left, top, width and height, as parts of the whole: 0 to 1."
      },
      "NewSession": {
        "type": "object",
        "required": ["id", "publishKey", "state"],
        "properties": {
          "id": {"type": "string"},
          "publishKey": {"type": "string"},
          "state": {"$ref": "#/components/schemas/State"}
        }
      },
      "OutputState": {
        "type": "object",
        "required": ["id", "type", "state", "problem", "frames", "bytes", "dropped", "failures", "reconnects"],
        "additionalProperties": false,
        "properties": {
          "id": {"type": "string"}, "type": {"type": "string"},
          "url": {"type": "string", "description": "The URL without secrets. That of HLS has the host of the request, or of the service's publicURL; in an event it is only a path."},
          "name": {"type": "string", "description": "The file that is written, or was written last; before the first frame, the name that was asked for."},
          "recording": {"type": "string", "description": "The id of that file among the recordings."},
          "state": {"enum": ["starting", "live", "reconnecting", "stopped", "failed"]},
          "problem": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "Why the output can't be written; null if there is no problem."},
          "frames": {"type": "integer", "description": "The number of frames written since it was started, like the other counts."},
          "bytes": {"type": "integer"},
          "dropped": {"type": "integer", "description": "The number of frames that it didn't take."},
          "failures": {"type": "integer", "description": "How often it could not be opened or written."},
          "reconnects": {"type": "integer", "description": "How often it was opened again after a failure."}
        }
      },
      "Outputs": {
        "type": "object", "required": ["outputs"], "additionalProperties": false,
        "properties": {"outputs": {"type": "array", "items": {"$ref": "#/components/schemas/OutputState"}}}
      },
      "Change": {
        "type": "object", "minProperties": 1, "additionalProperties": false,
        "description": "Only what is given changes.",
        "properties": {
          "policy": {
            "description": "A policy, or the name of a built-in policy. Orientations, lock, activity and the hold of a manual rotation continue; presentations end. Its stream sizes must be those of the session.",
            "anyOf": [{"type": "string"}, {"$ref": "#/components/schemas/Policy"}]
          },
          "options": {
            "type": "object", "minProperties": 1, "additionalProperties": false,
            "description": "null restores the default.",
            "properties": {
              "fit": {"type": ["string", "null"]},
              "portrait-fit": {"type": ["string", "null"]},
              "landscape-fit": {"type": ["string", "null"]},
              "background": {"type": ["string", "null"]},
              "slate": {"type": ["string", "null"]},
              "overlay": {"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "array", "items": {"type": "string"}}]},
              "bitrate": {"type": ["string", "number", "null"]}
            }
          }
        }
      },
      "Changed": {
        "type": "object", "required": ["at", "decisions", "options"], "additionalProperties": false,
        "properties": {
          "at": {"anyOf": [{"type": "number"}, {"type": "null"}], "description": "The media time of the first frame with the change, in seconds; null if it was applied before the first frame."},
          "decisions": {"type": "array", "items": {"$ref": "#/components/schemas/Decision"}, "description": "The decisions that the change caused at that frame."},
          "options": {"type": "object", "description": "The options that the session has now."}
        }
      },
      "Sessions": {
        "type": "object", "required": ["sessions"], "additionalProperties": false,
        "properties": {
          "sessions": {"type": "array", "items": {"$ref": "#/components/schemas/Session"}},
          "next": {"type": "string", "description": "The after of the next page; missing on the last one."}
        }
      },
      "Counters": {
        "type": "object",
        "required": ["framesIn", "framesOut", "dropped", "formatChanges", "inputLosses", "bytesIn", "bytesOut", "queueDepth", "eventToFrame"],
        "additionalProperties": false,
        "properties": {
          "framesIn": {"type": "integer"}, "framesOut": {"type": "integer"},
          "dropped": {"type": "object", "additionalProperties": {"type": "integer"}},
          "formatChanges": {"type": "integer"}, "inputLosses": {"type": "integer"},
          "bytesIn": {"type": "integer"}, "bytesOut": {"type": "integer"},
          "queueDepth": {"type": "integer"},
          "eventToFrame": {"type": ["number", "null"], "description": "The time from the last rotation's event to the first packet that shows it, in seconds; null before the first."}
        }
      },
      "Events": {
        "description": "One event, or an array of up to 1000.",
        "anyOf": [
          {"$ref": "#/components/schemas/Event"},
          {"type": "array", "minItems": 1, "maxItems": 1000, "items": {"$ref": "#/components/schemas/Event"}}
        ]
      },
      "Event": {
        "type": "object", "minProperties": 1,
        "description": "`upright schema events` prints the schema of an event. An event without `at` takes effect at the next frame."
      },
      "StreamedEvent": {
        "type": "object", "required": ["event", "data"],
        "description": "One server-sent event (HTML, 9.2).",
        "properties": {"id": {"type": "string"}, "event": {"type": "string"}, "data": {"type": "string", "description": "JSON on one line."}}
      },
      "Decisions": {
        "type": "object", "required": ["decisions", "pending"], "additionalProperties": false,
        "properties": {
          "decisions": {"type": "array", "items": {"$ref": "#/components/schemas/Decision"}},
          "pending": {"type": "integer", "minimum": 0, "description": "The number of events without a decision yet."}
        }
      },
      "Decision": {
        "type": "object",
        "required": ["at", "event", "decision", "reason", "target", "from", "to", "allowed", "controller", "why"],
        "properties": {
          "at": {"type": "number"},
          "event": {"type": "object"},
          "decision": {"enum": ["rotate", "keep", "refuse", "invalid"]},
          "from": {"type": "string"},
          "to": {"type": "string"},
          "allowed": {"type": "array", "items": {"type": "string"}},
          "controller": {"type": "string", "description": "The controller that decided."},
          "why": {"type": "string", "description": "The rule that applied and what it evaluated, in sentences."}
        }
      },
      "ExplainRequest": {
        "type": "object", "required": ["policy", "events"], "additionalProperties": false,
        "properties": {
          "policy": {"type": "string", "description": "The text of a policy."},
          "events": {"type": "string", "description": "At most 1000 events, one on each line."}
        }
      },
      "Explanation": {"anyOf": [
        {"$ref": "#/components/schemas/ExplainFault"}, {"$ref": "#/components/schemas/Explained"}
      ]},
      "ExplainFault": {
        "type": "object", "required": ["error"], "additionalProperties": false,
        "properties": {"error": {
          "type": "object", "required": ["in", "message", "path", "remedy"], "additionalProperties": false,
          "properties": {
            "in": {"enum": ["policy", "events"]}, "message": {"type": "string"},
            "path": {"type": "string", "description": "A JSON path, or a line, with a column or a path in it."},
            "remedy": {"type": "string"}
          }
        }}
      },
      "Explained": {
        "type": "object", "required": ["error", "start", "decisions", "warnings", "svg"], "additionalProperties": false,
        "properties": {
          "error": {"type": "null"},
          "start": {"type": "string", "description": "Why the app starts in its orientation."},
          "decisions": {"type": "array", "items": {"$ref": "#/components/schemas/Decision"}},
          "warnings": {"type": "array", "items": {"type": "string"}},
          "svg": {"type": "string", "description": "The timeline as a drawing."}
        }
      },
      "PolicyState": {
        "type": "object", "required": ["policy", "state"], "additionalProperties": false,
        "properties": {
          "policy": {"$ref": "#/components/schemas/Policy"},
          "state": {
            "type": "object",
            "required": ["device", "app", "rotationLock", "active", "holds", "application", "root", "presentations", "deciding", "containers", "controllers"],
            "additionalProperties": false,
            "properties": {
              "device": {"type": "string"}, "app": {"type": "string"},
              "rotationLock": {"type": "boolean"}, "active": {"type": "boolean"},
              "holds": {"type": "boolean", "description": "Whether a manual rotation or a presentation prevents automatic rotation."},
              "application": {"type": "array", "items": {"type": "string"}, "description": "The orientations that the application allows."},
              "root": {"type": "string"},
              "presentations": {"type": "array", "description": "From bottom to top.", "items": {
                "type": "object", "required": ["controller", "style"], "additionalProperties": false,
                "properties": {"controller": {"type": "string"}, "style": {"type": "string"}}
              }},
              "deciding": {"type": "string", "description": "The controller that decides."},
              "containers": {"type": "array", "items": {"type": "string"}, "description": "The containers through which it is asked."},
              "controllers": {"type": "array", "items": {
                "type": "object",
                "required": ["name", "kind", "children", "visibleChild", "shouldAutorotate", "supported", "preferred"],
                "additionalProperties": false,
                "properties": {
                  "name": {"type": "string"}, "kind": {"enum": ["content", "navigation", "tab"]},
                  "children": {"type": "array", "items": {"type": "string"}},
                  "visibleChild": {"type": ["string", "null"]},
                  "shouldAutorotate": {"anyOf": [{"type": "boolean"}, {"enum": ["manual"]}]},
                  "supported": {"type": "array", "items": {"type": "string"}},
                  "preferred": {"type": ["string", "null"]}
                }
              }}
            }
          }
        }
      },
      "WebhookRequest": {
        "type": "object", "required": ["url"], "additionalProperties": false,
        "properties": {
          "url": {"type": "string", "description": "An http: or https: URL without a user. The host of an https: URL must be a name, not an address (IPv4 or IPv6)."},
          "events": {"type": "array", "minItems": 1, "items": {"enum": ["turn", "format", "state", "recording"]}, "description": "The kinds of events. All if it is missing."},
          "secret": {"type": "string", "minLength": 16, "description": "The key of the signatures, 16 to 256 bytes. Generated if it is missing."}
        }
      },
      "Webhook": {
        "type": "object", "required": ["id", "url", "events"], "additionalProperties": false,
        "properties": {
          "id": {"type": "string"}, "url": {"type": "string"},
          "events": {"type": "array", "items": {"enum": ["turn", "format", "state", "recording"]}}
        }
      },
      "NewWebhook": {
        "type": "object", "required": ["id", "url", "events", "secret"], "additionalProperties": false,
        "properties": {
          "id": {"type": "string"}, "url": {"type": "string"},
          "events": {"type": "array", "items": {"enum": ["turn", "format", "state", "recording"]}},
          "secret": {"type": "string"}
        }
      },
      "Webhooks": {
        "type": "object", "required": ["webhooks"], "additionalProperties": false,
        "properties": {"webhooks": {"type": "array", "items": {"$ref": "#/components/schemas/Webhook"}}}
      },
      \#(recordingSchemas)
    }
    """#
}
