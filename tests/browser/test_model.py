"""The page's model: a pure function from state and message to state."""

from __future__ import annotations

from playwright.sync_api import Page


def test_the_reducer_changes_nothing_that_it_is_given(page: Page) -> None:
    final = page.evaluate(
        """async () => {
            const { firstModel, reduce } = await import("./model/model.js");
            const frozen = (value) => {
                if (value && typeof value === "object" && !Object.isFrozen(value)) {
                    Object.freeze(value);
                    Object.values(value).forEach(frozen);
                }
                return value;
            };
            const said = { role: "assistant", text: "Hello", unheard: " there", final: false, turn: 0, reply: 1 };
            const messages = [
                ["ready", { agent: { name: "Ada" }, labels: { idle: "Ready" } }],
                ["conversation", { conversation: "c", key: "k", resumed: false }],
                ["caption", said],
                ["caption", { ...said, final: true }],
                ["work", { event: "started", call: 1, tool: "look", mode: "tool" }],
                ["wait", { call: 1, stage: 0, label: "Working", detail: "" }],
                ["work", { event: "ended", call: 1, tool: "look", outcome: "done" }],
                ["dialogue", { flow: "f", title: "", question: "a", slots: [{ name: "a", state: "asked" }] }],
                ["debug", { rows: [], regions: {}, moments: [] }],
                ["moment", { at: 1, event: "E", fired: [], effects: [], regions: {} }],
                ["metrics", { stages: { speechEndToText: 1 } }],
                ["nonsense", {}],
                ["ended", { reason: "hung up", canRestart: true }],
            ];
            const sent = messages.map(([type, payload]) => frozen({ type: `duologue.${type}`, payload }));
            return sent.reduce((model, message) => frozen(reduce(model, message)), frozen(firstModel()));
        }"""
    )
    assert final["captions"][0]["interrupted"] is True
    assert final["dialogue"]["slots"] == [{"name": "a", "state": "empty"}]
    assert final["work"][0]["outcome"] == "done"
