// Compiled by a test with `strict`: what a page in TypeScript writes. The lines marked as errors must not compile.

import { Client, isOn, type Caption, type Model } from "duologue-client";
import { useDuologue } from "duologue-client/react";

const client = new Client({ url: "https://agent.example/", token: async () => "dt1.a.b", language: "de" });
client.on("caption", ({ role, text, final }) => console.log(role.toUpperCase(), text.length, final));
client.on("state", ({ phase }) => phase === "listening");
client.on("anything", (payload) => console.log(payload.of.any.kind));
const stop: () => void = client.subscribe((model: Model) => model.captions.map((caption: Caption) => caption.text));
const sent: boolean = client.type("hello");
const over: Promise<void> = client.start();
export const { model } = useDuologue({ url: "https://agent.example/" });
export const facts = [isOn(model), model.state.phase === "speaking", model.microphone.muted, sent, over, stop];

// @ts-expect-error: no such phase
export const wrong = model.state.phase === "sleeping";
// @ts-expect-error: the model is read only
model.captions = [];
// @ts-expect-error: a caption has no number
client.on("caption", ({ number }) => number);
// @ts-expect-error: a turn is text
client.type(1);
