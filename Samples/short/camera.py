"""A camera's frames, turned as the phone is held: arrays in, arrays out. No FFmpeg."""
import numpy
import upright_policy

frames = upright_policy.Frames(frames="sensor", canvas="follow", size="720p")
for number in range(60):
    if number == 30:
        frames.event({"device": "landscapeLeft"})  # from any thread
    turned = frames.turn(numpy.zeros((1080, 1920), numpy.uint8), time=number / 30)
    if turned.changed:
        print(f"frame {number}: {turned.width}x{turned.height}")
