// Pictures of the store, each cached until the next commit.
//
// Threads: any. Two who ask at once may both have a picture made.

import CairnInspection
import CairnLog
import CairnModel
import CairnPictures
import CairnStore
import CairnStudio
import FoundationEssentials
import Synchronization

/// Responds to `/api/pictures/`.
final class StudioPictures: Sendable {
    private struct Key: Hashable {
        let name: String
        let width: Int
        let against: String?
    }

    private struct Kept {
        let commit: UInt64
        let svg: String
    }

    private let store: StudioStore
    private let kept = Mutex<[Key: Kept]>([:])

    static let names = ["space.svg", "log.svg", "commits.svg", "model.svg"]
    /// The maximum number of cached pictures: a few sizes of each.
    private static let most = 32

    init(_ store: StudioStore) { self.store = store }

    func answer(_ name: String, _ request: StudioRequest) throws -> StudioAnswer {
        let isModel = name == "model.svg"
        let parameters = try StudioParameters(request, known: isModel ? ["against"] : ["width"])
        let key = Key(
            name: name, width: try parameters.number("width", in: 240...4000, or: 960),
            against: try parameters.text("against"))
        return try store.session { session in
            let snapshot = try session.store.snapshot()
            if let kept = kept.withLock({ $0[key] }), kept.commit == snapshot.commit {
                return Self.answer(kept.svg)
            }
            let svg = try picture(key, session, snapshot).svg(in: .page)
            kept.withLock { pictures in
                if pictures.count >= Self.most { pictures = [:] }
                pictures[key] = Kept(commit: snapshot.commit, svg: svg)
            }
            return Self.answer(svg)
        }
    }

    private static func answer(_ svg: String) -> StudioAnswer {
        StudioAnswer(type: "image/svg+xml", body: Data(svg.utf8))
    }

    private func picture(_ key: Key, _ session: StoreSession, _ snapshot: any StoreSnapshot) throws
        -> Picture
    {
        let width = Double(key.width)
        switch key.name {
        case "space.svg":
            return try SpacePicture.treemap(of: session.store, at: store.place)
                .picture(width: width)
        case "log.svg":
            guard let log = session.store as? LogStore else {
                throw Failure.absent(
                    "\(session.path): only stores in folders have a log of their own")
            }
            return try LogPicture.strip(of: store.place, log).picture(width: width)
        case "commits.svg":
            return try CommitPicture.timeline(at: store.place, session.store)
                .picture(width: width)
        default:
            let schema = session.schema
            var objects: [String: Int] = [:]
            for entity in schema.entities {
                var fetch = StoreFetch(entity: entity.index)
                fetch.includesSubentities = false
                objects[entity.name] = try snapshot.count(fetch)
            }
            let older = try key.against.map {
                try session.snapshot(try MomentOptions(at: $0)).schema.model
            }
            return ModelPicture.diagram(
                of: schema.model, objects: objects, against: older,
                named: key.against.map { "the model as of \($0)" } ?? ""
            ).picture()
        }
    }
}
