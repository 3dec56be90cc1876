// Imports a file that was dropped or chosen: first what would happen, then, if it is wanted, the import itself.

import { post } from "../app/api.js";
import { button, el, show } from "../app/dom.js";
import { openDialog } from "../app/dialog.js";
import { bytes, count, counted } from "../app/format.js";
import { toast } from "../app/toast.js";
import { undo } from "./save.js";

const policies = [
  ["mergeByPropertyObjectTrump", "update what is stored already"],
  ["mergeByPropertyStoreTrump", "leave what is stored as it is"],
  ["fail", "refuse the whole list if something is stored already"],
];

/** Takes files that are dropped on an element. */
export function acceptFiles(element, take) {
  const isFile = (event) => event.dataTransfer?.types.includes("Files");
  element.addEventListener("dragover", (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    element.classList.add("dropping");
  });
  element.addEventListener("dragleave", (event) => !element.contains(event.relatedTarget) && element.classList.remove("dropping"));
  element.addEventListener("drop", (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    element.classList.remove("dropping");
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  });
}

/** Opens the dialog; without a file it asks for one. */
export function importFile(studio, entity, file = null) {
  openDialog(`Import into ${entity}`, (close) => {
    const preview = el("div", { class: "preview", role: "status" });
    const options = { policy: policies[0][0] };
    const run = button("Import", () => carryOut(), { class: "primary", disabled: true });
    const parameters = () => ({ entity, name: file.name, ...options });
    const look = async () => {
      run.disabled = true;
      show(preview, el("p", { class: "note" }, `Reading ${file.name}, ${bytes(file.size)}…`));
      try {
        const report = await post("import", { ...parameters(), preview: 1 }, file, "application/octet-stream");
        show(preview, reportTable(report, file.name, true));
        run.disabled = report.inserted + report.updated + (report.deleted ?? 0) === 0;
      } catch (error) {
        show(preview, el("p", { class: "error", role: "alert" }, error.message), el("p", { class: "note" }, "Nothing was changed."));
      }
    };
    const carryOut = async () => {
      run.disabled = true;
      try {
        const report = await post("import", parameters(), file, "application/octet-stream");
        close();
        toast(`Imported ${file.name}: ${count(report.inserted)} inserted, ${count(report.updated)} updated`, { kind: "good", action: { label: "Undo", run: () => undo(studio, report.commit) } });
        await studio.wrote(report.commit);
      } catch (error) {
        show(preview, el("p", { class: "error", role: "alert" }, error.message));
      }
    };
    const choose = el("input", { type: "file", accept: ".csv,.tsv,.json,.jsonl,.ndjson,.geojson,.txt", "aria-label": "The list", on: { change: () => { file = choose.files[0] ?? null; if (file) look(); } } });
    const policy = el("select", { "aria-label": "Records whose object is stored already", on: { change: () => { options.policy = policy.value; if (file) look(); } } },
      policies.map(([value, words]) => el("option", { value }, words)));
    if (file) look();
    return [
      el("p", { class: "hint" }, "A list of records: CSV with a header, JSON, JSON lines, or GeoJSON. Objects are found by the entity's uniqueness constraints, so nothing is doubled."),
      el("div", { class: "import-file" }, file ? el("span", {}, el("strong", {}, file.name), ` ${bytes(file.size)}`) : choose),
      el("label", { class: "field" }, el("span", { class: "field-label" }, "Records whose object is stored already"), policy),
      preview,
      el("div", { class: "actions" }, button("Cancel", close), run),
    ];
  }, { wide: true });
}

function reportTable(report, name, isPreview) {
  const numbers = [
    ["inserted", "new objects", "good"], ["updated", "stored objects that change", "warn"], ["unchanged", "stored objects that stay as they are", ""],
    ["skipped", "records left out", ""], ["repeated", "records whose key came before in the list", ""], ["keyless", "records without a key", ""],
    ["deleted", "objects deleted", "bad"], ["createdTargets", "targets of relationships created", ""],
  ].filter(([key]) => key === "inserted" || key === "updated" || key === "unchanged" || report[key] > 0);
  return [
    el("p", {}, `${counted(report.records, "record")} in ${name}${report.form ? ` (${report.form})` : ""}. ${isPreview ? "Importing it would mean:" : ""}`),
    el("ul", { class: "numbers" }, numbers.map(([key, words, kind]) => el("li", { class: kind }, el("span", { class: "number" }, count(report[key])), el("span", { class: "note" }, words)))),
    report.problems?.length > 0 ? el("div", {}, el("h3", {}, "Problems"), el("ul", { class: "problems" }, report.problems.map((problem) =>
      el("li", {}, problem.record || problem.line ? `record ${problem.record ?? problem.line}: ` : "", problem.message ?? String(problem))))) : null,
    report.inserted + report.updated + (report.deleted ?? 0) === 0 ? el("p", { class: "note" }, "There is nothing to import: all of it is stored already.") : null,
  ];
}
