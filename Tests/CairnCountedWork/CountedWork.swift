// Small fixed pieces of work whose instructions CI counts, so that no change makes one dearer unnoticed.
//
// Each is done inside one function, made ready by what is called before it: what runs from its call to its return on
// the thread that calls it is counted. The work is the same in every run; only ids of stores and the places of
// memory differ, which is worth fractions of a per cent.
//
//   CairnCountedWork              lists the names
//   CairnCountedWork NAME FOLDER  does one, with its store in the folder

@main
enum CountedWork {
    /// What there is before.
    enum Start {
        case empty
        /// Rows.
        case filled
        /// Rows, and fetch indexes over them.
        case indexed
    }

    /// What there is to do, and before it.
    static let all: [(name: String, start: Start, work: @Sendable (Fixture) throws -> Void)] = [
        ("insert", .empty, { try $0.insert() }),
        ("upsert", .filled, { try $0.upsert() }),
        ("delete", .filled, { try $0.delete() }),
        ("commits", .empty, { try $0.commits() }),
        ("lookup", .filled, { try $0.lookUp() }),
        ("query", .indexed, { try $0.query() }),
        ("filter", .filled, { try $0.filter() }),
        ("scan", .filled, { try $0.scan() }),
        ("open", .filled, { try $0.open() }),
        ("saveObjects", .empty, { try $0.saveObjects() }),
        ("changeObjects", .filled, { try $0.changeObjects() }),
        ("fetchByKey", .filled, { try $0.fetchByKey() }),
        ("allObjects", .filled, { try $0.allObjects() }),
        ("saveByName", .empty, { try $0.saveByName() }),
        ("allByName", .filled, { try $0.allByName() }),
    ]

    nonisolated(unsafe) static var task: (() throws -> Void)?
    // Set and read by the only thread.

    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let chosen = all.first(where: { $0.name == arguments[1] })
        else {
            for piece in all { print(piece.name) }
            return
        }
        let fixture = try Fixture(folder: arguments[2])
        if chosen.start != .empty { try fixture.fill() }
        if chosen.start == .indexed { try fixture.index() }
        task = { try chosen.work(fixture) }
        countedWork()
        try fixture.close()
    }
}

/// From here on instructions are counted, until it returns: valgrind knows it by this name.
@_silgen_name("cairn_counted_work") @inline(never)
func countedWork() {
    do { try CountedWork.task?() } catch { fatalError("\(error)") }
}
