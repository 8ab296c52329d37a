// The page before the panel: the progress of the download of the models. When the download is done, the page reloads
// as the panel.

const POLL_MS = 400;
const element = (id) => document.getElementById(id);
const megabytes = (bytes) => (bytes / 1e6).toFixed(0);

async function poll() {
  const answer = await fetch("loading.json", { cache: "no-store" });
  if (!answer.ok) return false; // the real server answers now: it has no such file
  const { name, doneBytes, totalBytes, step, problem } = await answer.json();
  if (name) element("name").textContent = name;
  element("bar").max = totalBytes || 1;
  element("bar").value = doneBytes;
  element("amount").textContent = totalBytes ? `${megabytes(doneBytes)} of ${megabytes(totalBytes)} MB` : "";
  element("step").textContent = step;
  element("problem").textContent = problem;
  element("problem").hidden = !problem;
  if (problem) element("what").textContent = "The models could not be loaded.";
  return true;
}

async function watch() {
  let failed = false;
  for (;;) {
    try {
      if (!(await poll())) return location.reload();
      failed = !element("problem").hidden;
    } catch {
      if (failed) return; // the server has ended; the problem stays on the page
    }
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
}

watch();
