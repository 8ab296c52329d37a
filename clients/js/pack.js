// Fills dist/ with the files that a server serves to its own panel, without their comments: `npm pack` runs it.
//
// The source is src/duologue/server/web/client. Rule: only whole lines of comments, comments at the end of a line, empty
// lines and indentation are left out; the code is the same, line by line.

import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const SOURCE = join(HERE, "..", "..", "src", "duologue", "server", "web", "client");

rmSync(join(HERE, "dist"), { recursive: true, force: true });
for (const name of readdirSync(SOURCE, { recursive: true }).filter((one) => one.endsWith(".js"))) {
  const target = join(HERE, "dist", name);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, bare(readFileSync(join(SOURCE, name), "utf8")));
}
copyFileSync(join(HERE, "..", "..", "LICENSE"), join(HERE, "dist", "LICENSE"));

function bare(code) {
  const lines = code.replaceAll(/^\s*\/\*\*[^]*?\*\/\n/gm, "").split("\n");
  const kept = lines.map((line) => line.trim().replace(/^\/\/.*$/, "").replace(/ \/\/ [^"'`]*$/, ""));
  return `${kept.filter(Boolean).join("\n")}\n`;
}
