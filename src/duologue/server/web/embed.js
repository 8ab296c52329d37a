// Puts an agent on any page: <script src="https://agent.example/embed.js" data-agent="Ada" data-ticket="/my/ticket"></script>
//
// This loader asks the server whether the page may use the agent, and then loads the widget. Rule: it opens no socket
// and no microphone, and gets no ticket, before the user opens the widget.

(() => {
  const script = document.currentScript;
  if (!script) {
    console.error("Duologue: embed.js is a plain script: leave out type=\"module\", and don't import it.");
    return;
  }
  const server = new URL(script.dataset.server ?? ".", script.src);

  /** A page that may not use the agent says so: to its developer in the console, to its users in place of the widget. */
  function refuse(why) {
    console.error(`Duologue: ${why}`);
    const host = document.createElement("duologue-agent");
    host.dataset.refused = "true";
    const root = host.attachShadow({ mode: "open" });
    const style = new CSSStyleSheet();
    style.replaceSync(
      ":host { all: initial !important; position: fixed !important; right: 20px !important; bottom: 20px !important; z-index: 2147483000 !important }" +
        " p { margin: 0; max-width: 300px; padding: 10px 16px; border-radius: 18px; font: 14px/1.4 system-ui, sans-serif; background: #fff; color: #3c454f; border: 1px solid #8a94a0 }",
    );
    root.adoptedStyleSheets = [style];
    const note = document.createElement("p");
    note.setAttribute("role", "status");
    note.textContent = "This page can't use its voice agent.";
    root.append(note);
    document.body.append(host);
  }

  async function load() {
    const { agent, ticket } = script.dataset;
    if (ticket?.startsWith("dt1.") === false && !/^(https?:\/\/|\.{0,2}\/)/.test(ticket)) {
      return refuse("data-ticket is neither a ticket (`duologue ticket`) nor an address that returns one. The server's token doesn't belong in a page.");
    }
    let told;
    try {
      told = await (await fetch(new URL("embed/check", server))).json();
    } catch {
      return refuse(`the server ${server.origin} can't be reached.`);
    }
    if (!told.allowed) return refuse(told.message);
    if (told.ticket && !ticket) return refuse("this server wants a ticket: add data-ticket with the address of your backend that returns one.");
    if (agent && told.agent && agent !== told.agent) return refuse(`data-agent is "${agent}", and the agent of ${server.origin} is "${told.agent}".`);
    const { mount } = await import(new URL("embed/widget.js", server));
    return mount({ server, agent: agent || told.agent, ...script.dataset, script });
  }

  const whenReady = () => load().catch((problem) => refuse(`the widget can't be loaded: ${problem.message}`));
  if (document.body) whenReady();
  else document.addEventListener("DOMContentLoaded", whenReady);
})();
