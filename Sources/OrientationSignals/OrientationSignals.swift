// OrientationSignals
