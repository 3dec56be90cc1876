// Ports a source tree: reads everything, plans everything, and only then writes.
//
//   1. Files that have a word of Core Data are parsed. One that is not current Swift is reported and left alone.
//   2. What all files declare is collected, and from it which classes are managed; then files that extend one of those, have
//      to do with optional requirements, or declare what has the name of a set, are parsed as well.
//   3. The rules go over each file. Models get the classes that Xcode would generate.
//   4. Whoever asked writes the changes, or shows them.

import CairnModel

/// A port of a source tree, before anything is written.
package struct Port: Sendable {
    /// The changes, in the order of the paths.
    package private(set) var changes: [FileChange] = []
    /// What is left for a person, in the order of the places in the files as they are now. `findings(written:)` has it.
    private var left: [Finding] = []
    /// Files that were left alone since they cannot be read or parsed.
    package private(set) var unreadable: [Finding] = []
    /// Counts for the summary.
    package private(set) var counts = PortCounts()

    /// Plans a port.
    ///
    /// - Parameter paths: folders and files.
    /// - Throws: `PortError` if a path leads nowhere, or a file cannot be read.
    package init(_ paths: [String], _ options: PortOptions = PortOptions()) throws {
        let search = try SourceSearch(paths)
        let sources = try read(search.swiftFiles)
        let models = readModels(search.models)
        let (files, code) = parse(sources, models)
        for file in files { port(file, code, options) }
        for model in models { try generate(model, code, options) }
        reportOthers(search)
        changes.sort { $0.path < $1.path }
        left.sort { ($0.file, $0.line ?? 0) < ($1.file, $1.line ?? 0) }
        counts.finish(changes, left)
    }

    /// What is left for a person.
    ///
    /// - Parameter written: whether the lines are those of the files after the changes were written.
    package func findings(written: Bool) -> [Finding] {
        guard !written else { return left }
        let changed = Dictionary(changes.map { ($0.path, $0) }, uniquingKeysWith: { $1 })
        return left.map { finding in
            guard let change = changed[finding.file], let line = finding.line else {
                return finding
            }
            return Finding(
                file: finding.file, line: change.oldLine(of: line), subject: finding.subject,
                reason: finding.reason, advice: finding.advice)
        }
    }

    // MARK: Sources

    private struct Source {
        let path: String
        let text: String
    }

    /// The texts of files that may have something to port; all that the tool itself wrote are written again from the models.
    private mutating func read(_ paths: [String]) throws -> [Source] {
        counts.files = paths.count
        var sources: [Source] = []
        for path in paths {
            guard let text = try TextFile.read(path) else {
                unreadable.append(
                    Finding(
                        file: path, line: nil, subject: "a file in another encoding",
                        reason: "it is not UTF-8", advice: "save it as UTF-8"))
                continue
            }
            if !GeneratedFile.isOwn(text) { sources.append(Source(path: path, text: text)) }
        }
        return sources
    }

    /// Parses what has a word of Core Data.
    private mutating func parse(_ sources: [Source], _ models: [ModelClasses]) -> (
        files: [SourceFile], code: KnownCode
    ) {
        let generated = models.reduce(into: Set<String>()) { $0.formUnion($1.generatedClasses) }
        let sets = models.reduce(into: Set<String>()) { $0.formUnion($1.generatedSets) }
        var files: [SourceFile] = []
        var rest: [Source] = []
        for source in sources {
            if CoreDataWords.all.finds(in: source.text) {
                files += parsed(source)
            } else {
                rest.append(source)
            }
        }
        var facts = files.map { (path: $0.path, facts: FileFacts($0)) }
        var code = KnownCode(facts, generatedClasses: generated, generatedSets: sets)
        // What another file declares of the same name decides what can be rewritten.
        let words = WordSearch(
            OptionalRequirements.words(of: facts.map(\.facts))
                + code.setNames.flatMap { ["var \($0)", "let \($0)"] })
        let more = rest.filter {
            code.extensionHeads.finds(in: $0.text) || words.finds(in: $0.text)
        }.flatMap { parsed($0) }
        if !more.isEmpty {
            files += more
            facts += more.map { (path: $0.path, facts: FileFacts($0)) }
            code = KnownCode(facts, generatedClasses: generated, generatedSets: sets)
        }
        return (files, code)
    }

    private mutating func parsed(_ source: Source) -> [SourceFile] {
        let file = SourceFile(path: source.path, text: source.text)
        guard let problem = file.problem else { return [file] }
        unreadable.append(
            Finding(
                file: source.path, line: LineTable(source.text).line(at: problem.offset),
                subject: problem.message,
                reason: "this is not current Swift, so the file was left alone",
                advice: "convert the file with an older Xcode, or rewrite the line"))
        return []
    }

    private mutating func port(_ file: SourceFile, _ code: KnownCode, _ options: PortOptions) {
        counts.coreDataLines += CoreDataWords.lines(in: file.text)
        if CoreDataWords.areIn(file.text, code) { counts.coreDataFiles += 1 }
        guard let port = FilePort(file, code, buildsOnApple: options.buildsOnApple) else {
            unreadable.append(
                Finding(
                    file: file.path, line: nil, subject: "the file",
                    reason: "the rewritten text does not parse, so the file was left alone",
                    advice: "change its lines by hand, and report the file"))
            return
        }
        if port.file.text != file.text {
            changes.append(FileChange(path: file.path, old: file.text, new: port.file.text))
        }
        guard !port.remarks.isEmpty else { return }
        let lines = LineTable(port.file.text)
        for remark in port.remarks {
            left.append(
                Finding(
                    file: file.path, line: lines.line(at: remark.offset), subject: remark.subject,
                    reason: remark.reason, advice: remark.advice))
        }
    }

    // MARK: Models and other files

    private mutating func readModels(_ paths: [String]) -> [ModelClasses] {
        paths.compactMap { path in
            do throws(ModelError) {
                return try ModelClasses(contentsOfFile: path)
            } catch {
                unreadable.append(
                    Finding(
                        file: error.file ?? path, line: error.line,
                        subject: error.element ?? "the model", reason: error.message,
                        advice: "correct the model in Xcode's editor"))
                return nil
            }
        }
    }

    private mutating func generate(
        _ model: ModelClasses, _ code: KnownCode, _ options: PortOptions
    ) throws {
        let (files, findings) = model.files(
            for: code, in: options.generatedClasses, buildsOnApple: options.buildsOnApple)
        left += findings
        for file in files {
            // Two models with one class, or a file that is there already.
            guard !changes.contains(where: { $0.path == file.path }) else { continue }
            let isThere = TextFile.exists(file.path)
            let old = isThere ? try TextFile.read(file.path) : nil
            // One that is no text is nobody's but its owner's.
            if isThere, !(old.map(GeneratedFile.isOwn) ?? false) {
                left.append(
                    Finding(
                        file: file.path, line: nil, subject: "an existing file",
                        reason: "a class of \(model.path) would be written here",
                        advice: "remove the file, or choose another folder with --generated-classes"
                    ))
            } else if old != file.text {
                changes.append(FileChange(path: file.path, old: old, new: file.text))
            }
        }
    }

    private mutating func reportOthers(_ search: SourceSearch) {
        for path in search.compiledModels {
            left.append(
                Finding(
                    file: path, line: nil, subject: "a compiled model",
                    reason: "only Apple's Core Data can read it",
                    advice:
                        "the source that Xcode compiles it from (.xcdatamodeld, .xcmappingmodel)")
            )
        }
        for path in search.objectiveCFiles {
            guard let text = try? TextFile.read(path),
                WordSearch(["NSManagedObject", "<CoreData/", "@import CoreData"]).finds(in: text)
            else { continue }
            left.append(
                Finding(
                    file: path, line: nil, subject: "Objective-C",
                    reason: "Swift on Linux cannot import it",
                    advice:
                        "write the classes in Swift, or let this tool generate them from the model (Class Definition in Xcode's editor)"
                ))
        }
    }
}
