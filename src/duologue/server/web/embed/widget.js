// The agent on a foreign page: a button that opens a small window with the orb, the captions and the controls.
//
// It is made of the panel's own parts, in a shadow root. Rule: the page's styles don't reach it, and its own don't leave
// it; the page restyles it by the properties `--duologue-…` only.

import { createActions } from "../actions.js";
import { Client, isOn } from "../client/client.js";
import { takeIconsFrom } from "../dom.js";
import { holdSpace } from "../keys.js";
import { announcer } from "../parts/announcer.js";
import { captions } from "../parts/captions.js";
import { composer } from "../parts/composer.js";
import { connection, GATES } from "../parts/connection.js";
import { controls } from "../parts/controls.js";
import { meter } from "../parts/meter.js";
import { notices } from "../parts/notices.js";
import { orb } from "../parts/orb.js";
import { status } from "../parts/status.js";
import { suggestions } from "../parts/suggestions.js";
import { chosenLanguage, textsIn, textsOf, translate } from "../texts.js";
import { markup } from "./markup.js";

const STYLES = ["style/tokens.css", "style/frame.css", "style/stage.css", "style/talk.css", "embed/embed.css"];
// What the panel offers after a refusal, but for tickets: a page gets those by itself.
const EMBED_GATES = { ...GATES, 4401: { title: "noTicket", offers: ["retry"] }, 4403: { title: "refusedOrigin", offers: [] } };

/** Puts the widget on the page. Returns its element and its client. */
export async function mount({ server, agent = "", ticket = "", theme = "", position = "right", language = "", target = "" }) {
  const chosen = language || chosenLanguage();
  const [text, sheets, symbols] = await Promise.all([textsOf(chosen).then((own) => textsIn(chosen, own)), Promise.all(STYLES.map((name) => sheetOf(server, name))), iconsOf(server)]);
  const host = document.createElement("duologue-agent");
  host.dataset.position = position;
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = sheets;
  takeIconsFrom("#icon-");
  const tokens = markup();
  const body = tokens.firstElementChild;
  if (theme === "light" || theme === "dark") tokens.dataset.theme = theme;
  tokens.lang = chosen;
  root.append(symbols, tokens);
  translate(root, text);
  (document.querySelector(target || "body") ?? document.body).append(host);

  const client = new Client({ url: server.href, token: () => ticketFrom(ticket), language: chosen, name: `duologue@${server.host}` });
  const { store, player, microphone, sound } = client;
  const act = createActions({ client, text });
  const shared = { text, language: chosen, act, store, timings: [], sound, player, microphone, root, body, gates: EMBED_GATES };
  for (const part of [status, controls, captions, suggestions, announcer, composer, connection, notices, orb, meter]) store.subscribe(part(shared));
  holdSpace(act, root);
  store.subscribe(nameIn(root, agent, text));
  opening(root, client);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new Event("duologue.theme")));
  return { host, client };
}

/** The ticket that the page was given, or a new one from the page's backend. */
async function ticketFrom(ticket) {
  if (!ticket || ticket.startsWith("dt1.")) return ticket;
  const answer = await fetch(ticket, { credentials: "same-origin", cache: "no-store" });
  if (!answer.ok) throw new Error(`no ticket: ${ticket} answered ${answer.status}`);
  return (await answer.text()).trim();
}

async function sheetOf(server, name) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(await (await fetch(new URL(name, server))).text());
  return sheet;
}

/** The symbols of all icons: `use` finds only those of its own tree, and none of another origin. */
async function iconsOf(server) {
  const source = await (await fetch(new URL("icons.svg", server))).text();
  const svg = document.importNode(new DOMParser().parseFromString(source, "image/svg+xml").documentElement, true);
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("symbols");
  for (const symbol of svg.children) symbol.id = `icon-${symbol.id}`; // the controls have the bare names
  return svg;
}

function nameIn(root, agent, text) {
  const name = root.getElementById("agent-name");
  const launcher = root.getElementById("launcher");
  const label = root.getElementById("launcher-label");
  return (model) => {
    const who = model.speaker || model.ready?.agent?.name || agent || text("agent");
    name.textContent = who;
    const words = text("talkTo", { name: who });
    if (label.textContent !== words) label.textContent = words;
    launcher.dataset.on = String(isOn(model));
  };
}

/** The button opens and closes the window. Closing leaves a conversation running; only its own button ends it. */
function opening(root, client) {
  const launcher = root.getElementById("launcher");
  const view = root.getElementById("window");
  let wasOpened = false;
  const set = (open) => {
    view.hidden = !open;
    launcher.setAttribute("aria-expanded", String(open));
    if (!open) return launcher.focus({ preventScroll: true });
    if (!wasOpened) client.connect();
    wasOpened = true;
    return root.getElementById("stage").focus({ preventScroll: true });
  };
  launcher.onclick = () => set(view.hidden);
  root.getElementById("hide").onclick = () => set(false);
  view.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    set(false);
  });
}
