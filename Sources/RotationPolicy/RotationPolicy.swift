// RotationPolicy
