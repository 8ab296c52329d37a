// Light or dark: the system's setting, until the user presses the button.

import { memory } from "./seat.js";

export function theme(text) {
  const button = document.getElementById("theme-toggle");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const show = () => {
    const label = text(isDark() ? "themeLight" : "themeDark");
    button.setAttribute("aria-label", label);
    button.title = label;
    document.dispatchEvent(new Event("duologue.theme"));
  };
  const wanted = memory.kept("theme");
  if (wanted === "dark" || wanted === "light") document.documentElement.dataset.theme = wanted;
  button.onclick = () => {
    const next = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    memory.keep("theme", next === (system.matches ? "dark" : "light") ? null : next);
    show();
  };
  system.addEventListener("change", show);
  show();
}
