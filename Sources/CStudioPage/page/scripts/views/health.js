// Health: verifies the store, shows damage by its place, and has the commands for what a studio must not do by itself.

import { get, post } from "../app/api.js";
import { button, command, el, select, show } from "../app/dom.js";
import { bytes, count, counted, percent } from "../app/format.js";
import { showPicture, widthOf } from "./picture.js";

const depths = [
  ["headers", "headers: segments and frames are there and in order"], ["frames", "frames: and their checksums"],
  ["blocks", "blocks: and every value"], ["all", "all: and indexes, references, the checkpoint"],
];

/** Shows the health of the store. */
export async function showHealth({ studio, element, signal }) {
  const space = await quietly("space", signal);
  const depth = select(depths, "all", undefined, { "aria-label": "How deep to look" });
  const result = el("div", { role: "status" });
  const strip = el("div");
  const begin = button("Check the store", async () => {
    begin.disabled = true;
    try {
      await post("check", { depth: depth.value });
      await follow(result, signal);
    } catch (error) {
      if (error.name !== "AbortError") show(result, el("p", { class: "error", role: "alert" }, error.message));
    }
    begin.disabled = false;
  }, { class: "primary" });
  show(element, el("h1", {}, "Health"),
    el("section", { class: "panel" }, el("h2", {}, "Check"),
      el("p", {}, "Verifies everything the store holds, beside the programs that use it."),
      el("div", { class: "filters" }, el("label", { class: "field inline" }, el("span", { class: "field-label" }, "How deep"), depth), begin), result),
    el("section", { class: "panel" }, el("h2", {}, "The log"), strip),
    el("section", { class: "panel" }, el("h2", {}, "Commands"), commands(studio.store, space)));
  const latest = await get("check", {}, { signal });
  if (latest.running) {
    begin.disabled = true;
    follow(result, signal).finally(() => { begin.disabled = false; }).catch(() => {});
  } else showOutcome(result, latest);
  await showPicture(strip, "log.svg", { parameters: { width: widthOf(strip) }, signal });
}

// A damaged store may not tell this: the check does.
const quietly = (path, signal) => get(path, {}, { signal }).catch((error) => {
  if (error.name === "AbortError") throw error;
  return {};
});

async function follow(element, signal) {
  const progress = el("progress", { max: 1 });
  const words = el("span", { class: "note" });
  show(element, el("div", { class: "checking" }, progress, words));
  for (;;) {
    const state = await get("check", {}, { signal });
    if (!state.running) {
      showOutcome(element, state);
      return;
    }
    if (state.of > 0) {
      progress.max = state.of;
      progress.value = state.done;
    }
    words.textContent = `${state.step ?? "reading"}${state.of > 0 ? `, ${percent(state.done, state.of)}` : ""}`;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function showOutcome(element, { result, error }) {
  if (error) showDamage(element, error);
  else if (result) {
    const numbers = [["segments", "segment"], ["frames", "frame"], ["commits", "commit"], ["blocks", "block"], ["rows", "row"], ["indexEntries", "index entry", "index entries"], ["references", "reference"], ["checkpoints", "checkpoint"]]
      .filter(([key]) => result[key] > 0);
    show(element, el("p", { class: "verdict good" }, "The store is sound."),
      el("p", { class: "note" }, `Verified at depth ${result.depth}: ${numbers.map(([key, one, many]) => counted(result[key], one, many)).join(", ")}.`),
      result.notes?.length > 0 ? el("ul", {}, result.notes.map((note) => el("li", {}, typeof note === "string" ? note : note.message))) : null);
  }
}

function showDamage(element, error) {
  const findings = error.findings ?? [{ message: error.message, segment: error.segment, offset: error.offset }];
  if (!error.findings && error.exit !== 3) {
    show(element, el("p", { class: "error", role: "alert" }, error.message));
    return;
  }
  show(element, el("p", { class: "verdict bad", role: "alert" }, `The store is damaged: ${counted(error.findingCount ?? findings.length, "finding")}.`),
    el("div", { class: "scroll" }, el("table", { class: "plain-table" },
      el("thead", {}, el("tr", {}, ["Segment", "Offset", "What is wrong"].map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, findings.map((finding) => el("tr", {},
        el("td", {}, finding.segment ?? finding.path ?? "–"), el("td", { class: "number" }, finding.offset === undefined || finding.offset === null ? "–" : count(finding.offset)), el("td", {}, finding.message)))))),
    el("p", {}, "Salvage writes what is left into a new store; the damaged one stays as it is. The command is below."));
}

function commands({ title, kind }, space) {
  const quoted = (text) => `'${text.replace(/'/g, "'\\''")}'`;
  const store = quoted(title);
  const isFolder = kind === "folder";
  const dead = space.bytes === undefined || space.liveBytes === undefined ? null : space.bytes - space.liveBytes;
  const target = (suffix) => quoted(title.replace(/(\.cairn)?\/?$/, `${suffix}.cairn`));
  const rows = [
    ["Check it from a terminal, for a script or a cron job", `cairn check ${store}`],
    isFolder ? [dead === null ? "Give back the space of dead rows" : `Give back the space of dead rows: ${bytes(dead)} of ${bytes(space.bytes)} are dead`, `cairn compact ${store}`] : null,
    isFolder ? ["Copy it while others write", `cairn backup ${store} ${target("-backup")}`] : null,
    isFolder ? ["Write what is left of a damaged store into a new one", `cairn salvage ${store} ${target("-salvaged")}`] : null,
    ["All of this in one file, for a ticket", `cairn report ${store} -o report.html`],
  ].filter(Boolean);
  return el("dl", { class: "commands" }, rows.map(([words, line]) => [el("dt", {}, words), el("dd", {}, command(line))]));
}
