internal import CUprightFFmpeg
internal import UprightOrientation

/// AV_NOPTS_VALUE, whose macro isn't imported into Swift.
let noTimestamp = Int64.min

extension Rational {
  init(_ rational: AVRational) { self.init(Int(rational.num), Int(rational.den)) }
}

extension AVRational {
  init(_ rational: Rational) {
    self.init(num: CInt(clamping: rational.numerator), den: CInt(clamping: rational.denominator))
  }
}
