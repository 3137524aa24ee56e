/// Invalid input: the text, the path of the error, and a part of its remedy.
enum BadInput {
  static let documents: [(text: String, path: String, remedy: String)] = [
    ("{'semantcs': 'ios6'}", "semantcs", "did you mean \"semantics\"?"),
    ("{'semantics': 'ios7'}", "semantics", "did you mean"),
    ("{'semantics': 6}", "semantics", "write"),
    ("{'device': {'idom': 'phone'}}", "device.idom", "did you mean \"idiom\"?"),
    ("{'device': {'idiom': 'tablet'}}", "device.idiom", "use one of phone, pad"),
    ("{'device': {'orientation': 'landscape'}}", "device.orientation", "use one of"),
    (
      "{'device': {'orientation': 'portrate'}}", "device.orientation",
      "did you mean \"portrait\"?"
    ),
    ("{'device': {'rotationLock': 1}}", "device.rotationLock", "write true or false"),
    ("{'device': []}", "device", "write an object"),
    ("{'application': {'infoPlist': 'portrait'}}", "application.infoPlist", "write a list"),
    (
      "{'application': {'delegate': ['all', 'al']}}", "application.delegate[1]",
      "did you mean \"all\"?"
    ),
    ("{'application': {'delegate': ['unknown']}}", "application.delegate[0]", "use one of"),
    ("{'application': {'active': null}}", "application.active", "write true or false"),
    ("{'application': {'actve': true}}", "application.actve", "did you mean \"active\"?"),
    (
      "{'controllers': {'list': {'suported': []}}}", "controllers.list.suported",
      "did you mean \"supported\"?"
    ),
    (
      "{'controllers': {'list': {'Supported': []}}}", "controllers.list.Supported",
      "did you mean \"supported\"?"
    ),
    (
      "{'controllers': {'list': {'supported': ['portrait', 'landscapeleftt']}}}",
      "controllers.list.supported[1]", "did you mean \"landscapeLeft\"?"
    ),
    (
      "{'controllers': {'list': {'supported': ['faceUp']}}}", "controllers.list.supported[0]",
      "use one of"
    ),
    ("{'controllers': {'list': {'supported': [[]]}}}", "controllers.list.supported[0]", "write"),
    (
      "{'controllers': {'list': {'preferred': ['portrait', 'landscapeLeft']}}}",
      "controllers.list.preferred", "only one"
    ),
    (
      "{'controllers': {'list': {'preferred': 'landscape'}}}", "controllers.list.preferred",
      "only one"
    ),
    (
      "{'controllers': {'list': {'preferred': 'unknown'}}}", "controllers.list.preferred",
      "use one of"
    ),
    (
      "{'controllers': {'list': {'shouldAutorotate': 'manuel'}}}",
      "controllers.list.shouldAutorotate", "did you mean \"manual\"?"
    ),
    (
      "{'controllers': {'list': {'shouldAutorotate': 0}}}", "controllers.list.shouldAutorotate",
      "write"
    ),
    (
      "{'controllers': {'list': {'kind': 'navgation'}}}", "controllers.list.kind",
      "did you mean \"navigation\"?"
    ),
    (
      "{'controllers': {'list': {'authority': 'visiblechld', 'kind': 'tab'}}}",
      "controllers.list.authority", "did you mean \"visibleChild\"?"
    ),
    ("{'controllers': {'list': {'children': ['x']}}}", "controllers.list.children", "kind"),
    ("{'controllers': {'list': {'selected': 'x'}}}", "controllers.list.selected", "kind"),
    (
      "{'controllers': {'list': {'authority': 'visibleChild'}}}", "controllers.list.authority",
      "kind"
    ),
    ("{'controllers': {'application': {}}}", "controllers.application", "another name"),
    ("{'controllers': {'': {}}}", "controllers[\"\"]", "another name"),
    ("{'controllers': {'a.b': {'x': 1}}}", "controllers[\"a.b\"].x", "use one of"),
    ("{'controllers': ['a']}", "controllers", "write an object"),
    ("{'transition': {'style': 'fade'}}", "transition.style", "use one of"),
    ("{'transition': {'duration': -0.1}}", "transition.duration", "seconds from 0"),
    ("{'transition': {'duration': 1e300}}", "transition.duration", "seconds from 0"),
    ("{'transition': {'duration': '1'}}", "transition.duration", "write a number"),
    ("{'stream': {'size': 720}}", "stream.size", "720x1280"),
    ("{'stream': {'sizes': '2x2'}}", "stream.sizes", "did you mean \"size\"?"),
    ("{'root': 'lst', 'controllers': {'list': {}}}", "root", "did you mean \"list\"?"),
    ("{'root': 'list'}", "root", "add it"),
    ("{'root': 3}", "root", "write"),
    ("[]", "the document", "write an object"),
  ]

  static let events: [(text: String, path: String, remedy: String)] = [
    ("{'at': 1, 'devise': 'portrait'}", "line 1, devise", "did you mean \"device\"?"),
    (
      "{'at': 1, 'device': 'landscapeRigth'}", "line 1, device",
      "did you mean \"landscapeRight\"?"
    ),
    ("{'at': 1, 'rotate': 'unknown'}", "line 1, rotate", "use one of"),
    ("{'at': 1, 'rotate': 'faceUp'}", "line 1, rotate", "use one of"),
    ("{'at': 1, 'rotate': 'landscape'}", "line 1, rotate", "only one"),
    ("{'device': 'portrait'}", "line 1", "add \"at\""),
    ("{'at': 1}", "line 1", "add one of"),
    ("{'at': -1, 'device': 'portrait'}", "line 1, at", "seconds from 0"),
    ("{'at': -0.0001, 'lock': true}", "line 1, at", "seconds from 0"),
    ("{'at': 1e300, 'lock': true}", "line 1, at", "seconds from 0"),
    ("{'at': '1', 'lock': true}", "line 1, at", "write a number"),
    ("{'at': true, 'lock': true}", "line 1, at", "write a number"),
    ("{'at': NaN, 'lock': true}", "line 1, column 8", "finite number"),
    ("{'at': 1, 'lock': 'yes'}", "line 1, lock", "write true or false"),
    ("{'at': 1, 'active': 1}", "line 1, active", "write true or false"),
    ("{'at': 1, 'gravity': [0, -1]}", "line 1, gravity", "write three"),
    ("{'at': 1, 'gravity': [0, -1, 0, 0]}", "line 1, gravity", "write three"),
    ("{'at': 1, 'gravity': [0, '1', 0]}", "line 1, gravity[1]", "write a number"),
    ("{'at': 1, 'gravity': 1}", "line 1, gravity", "write a list"),
    (
      "{'at': 1, 'present': 'a', 'style': 'fullscren'}", "line 1, style",
      "did you mean \"fullScreen\"?"
    ),
    ("{'at': 1, 'present': 'a', 'onto': 'b'}", "line 1, onto", "use one of at, present, style"),
    ("{'at': 1, 'present': 1}", "line 1, present", "write"),
    ("{'at': 1, 'present': ''}", "line 1, present", "name one"),
    ("{'at': 1, 'dismiss': false}", "line 1, dismiss", "write true"),
    ("{'at': 1, 'push': 'a'}", "line 1", "add \"onto\""),
    ("{'at': 1, 'push': 'a', 'in': 'b'}", "line 1, in", "use one of"),
    ("{'at': 1, 'select': 'a'}", "line 1", "add \"in\""),
    ("{'at': 1, 'set': 'a'}", "line 1", "add"),
    ("{'at': 1, 'set': 'application'}", "line 1", "add \"delegate\""),
    (
      "{'at': 1, 'set': 'application', 'supported': []}", "line 1, supported",
      "use one of delegate"
    ),
    ("{'at': 1, 'set': 'a', 'delegate': []}", "line 1, delegate", "use one of"),
    ("{'at': 1, 'set': 'a', 'supported': ['upsidedown']}", "line 1, supported[0]", ""),
    ("{'at': 1, 'set': 'a', 'suported': []}", "line 1, suported", "did you mean \"supported\"?"),
    ("{'at': 1, 'device': 'portrait', 'lock': true}", "line 1", "two events"),
    ("'device'", "line 1", "write an object"),
    ("[1]", "line 1", "write an object"),
    ("{'at': 1,", "line 1, column 10", ""),
  ]
}
