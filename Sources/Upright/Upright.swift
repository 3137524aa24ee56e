// Upright
