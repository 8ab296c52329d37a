"""The resampler of the microphone."""

from __future__ import annotations

from playwright.sync_api import Page


def test_a_resampler_keeps_what_the_rate_can_carry_and_nothing_else(page: Page) -> None:
    found = page.evaluate(
        """async () => {
            const { Resampler } = await import("./client/worklets/resample.js");
            const level = (from, to, hertz) => {
                const resampler = new Resampler(from, to);
                const out = [];
                for (let block = 0; block < 200; block += 1) {
                    const wave = (_, n) => Math.sin(2 * Math.PI * hertz * (block * 128 + n) / from);
                    out.push(...resampler.process(Float32Array.from({ length: 128 }, wave)));
                }
                const steady = out.slice(500);
                const rms = Math.sqrt(steady.reduce((sum, value) => sum + value * value, 0) / steady.length);
                return { count: out.length / (200 * 128 / from), db: 20 * Math.log10(rms * Math.SQRT2) };
            };
            return [[48000, 1000], [48000, 6500], [48000, 9500], [44100, 1000], [44100, 9500], [96000, 20000]]
                .map(([from, hertz]) => ({ from, hertz, ...level(from, 16000, hertz) }));
        }"""
    )
    for case in found:
        assert abs(case["count"] - 16_000) < 200
        if case["hertz"] < 7000:
            assert abs(case["db"]) < 0.3, case
        else:
            assert case["db"] < -60, case
