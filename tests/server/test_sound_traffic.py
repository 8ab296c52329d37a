"""Sound over sockets in the metrics."""

from __future__ import annotations

from duologue.server.sound_traffic import INPUT, OUTPUT, SoundTraffic


def test_bytes_and_milliseconds_are_counted_by_direction_and_format() -> None:
    traffic = SoundTraffic()
    traffic.note(INPUT, "opus", 81, 20)
    traffic.note(INPUT, "opus", 79, 20)
    traffic.note(OUTPUT, "pcm", 4_812, 100)
    traffic.note_refused("opus")
    text = traffic.metrics()
    assert 'duologue_socket_sound_bytes_total{direction="input",format="opus"} 160\n' in text
    assert 'duologue_socket_sound_ms_total{direction="input",format="opus"} 40\n' in text
    assert 'duologue_socket_sound_bytes_total{direction="output",format="pcm"} 4812\n' in text
    assert 'duologue_socket_sound_bytes_total{direction="output",format="opus"} 0\n' in text
    assert 'duologue_socket_sound_refused_total{direction="input",format="opus"} 1\n' in text
    assert text.count("# TYPE") == 3
