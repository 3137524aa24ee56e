"""The one exception of this package."""

from __future__ import annotations


class UprightError(Exception):
    """A failed call.

    Attributes:
        code: What kind of failure it is: "usage" (an option or a value is invalid), "badData" (a policy, an event
            or the media is malformed), "noInput", "unavailable" (a codec or format is missing), "cannotCreate",
            "inputOutput", "configuration", "cancelled", "busy" (another thread is using the object),
            "invalid" (the object is closed, or a call is out of order) or "fault" (an internal error).
        message: What happened.
        location: The file, line, option or argument that the error is about; may be empty.
        remedy: What can be done about it; may be empty.
        library_code: FFmpeg's error code if one of its libraries failed, else 0. Its text is in `message`.
    """

    def __init__(
        self, code: str, message: str, location: str = "", remedy: str = "", library_code: int = 0
    ) -> None:
        super().__init__(code, message, location, remedy, library_code)
        self.code = code
        self.message = message
        self.location = location
        self.remedy = remedy
        self.library_code = library_code

    def __str__(self) -> str:
        return ": ".join(part for part in (self.message, self.location, self.remedy) if part)
