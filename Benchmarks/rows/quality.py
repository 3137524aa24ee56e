"""The quality of encoded frames: compared with the frames of the source, scaled with the bicubic kernel
in double precision and turned."""
import subprocess

import numpy

SOURCE, TARGET = (1080, 1920), (1280, 720)


def luma(clip, shape, frames):
    """Returns the luma of the frames with those numbers."""
    chosen = "+".join(f"eq(n,{frame})" for frame in frames)
    raw = subprocess.run(
        ["ffmpeg", "-v", "error", "-noautorotate", "-i", clip, "-vf", f"select='{chosen}'",
         "-fps_mode", "passthrough", "-pix_fmt", "gray", "-f", "rawvideo", "-"],
        check=True, stdout=subprocess.PIPE).stdout
    return numpy.frombuffer(raw, numpy.uint8).reshape(len(frames), *shape).astype(float)


def bicubic(length, wanted):
    """Returns the weight of each source sample in each sample of the result, as a matrix (B = 0, C = 0.6)."""
    scale = length / wanted
    centres = (numpy.arange(wanted) + 0.5) * scale - 0.5
    weights = numpy.zeros((wanted, length))
    for tap in range(-int(3 * scale) - 1, int(3 * scale) + 2):
        sample = numpy.floor(centres).astype(int) + tap
        t = numpy.abs(sample - centres) / scale
        share = numpy.where(
            t < 1, 1.4 * t**3 - 2.4 * t**2 + 1,
            numpy.where(t < 2, -0.6 * t**3 + 3 * t**2 - 4.8 * t + 2.4, 0))
        numpy.add.at(weights, (numpy.arange(wanted), numpy.clip(sample, 0, length - 1)), share)
    return weights / weights.sum(1, keepdims=True)


def exact(clip, frames):
    """Returns the frame turned clockwise and rescaled, without rounding."""
    down, across = bicubic(SOURCE[0], TARGET[1]), bicubic(SOURCE[1], TARGET[0])
    return [numpy.clip(numpy.rot90(down @ frame @ across.T, -1), 0, 255)
            for frame in luma(clip, SOURCE, frames)]


def psnr(a, b):
    return 10 * numpy.log10(255**2 / numpy.mean((a - b)**2))


def ssim(a, b):
    """Returns the SSIM (Wang et al., 2004): the mean over adjacent blocks of 8 x 8."""
    def mean(plane):
        height, width = plane.shape
        return plane.reshape(height // 8, 8, width // 8, 8).mean((1, 3))
    p, q = mean(a), mean(b)
    vp, vq, both = mean(a * a) - p * p, mean(b * b) - q * q, mean(a * b) - p * q
    return numpy.mean(
        (2 * p * q + 6.5025) * (2 * both + 58.5225) / ((p * p + q * q + 6.5025) * (vp + vq + 58.5225)))


def against_exact(source, encoded, frames):
    """Returns PSNR and SSIM of luma, as text."""
    pairs = list(zip(luma(encoded, TARGET, frames), exact(source, frames)))
    return (f"PSNR {numpy.mean([psnr(*pair) for pair in pairs]):.2f} dB, "
            f"SSIM {numpy.mean([ssim(*pair) for pair in pairs]):.4f}")
