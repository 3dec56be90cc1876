// A model with ordered relationships of each kind.

import CairnModel
import CairnObjects
import CairnStore

extension Models {
    /// Folders with items and folders in them, playlists with songs.
    static let ordered: ManagedObjectModel = {
        func many(_ name: String, to other: String, inverse: String? = nil, cascades: Bool = false)
            -> RelationshipDescription
        {
            var relationship = RelationshipDescription(
                name, to: other, toMany: true, inverse: inverse,
                deleteRule: cascades ? .cascade : .nullify)
            relationship.isOrdered = true
            return relationship
        }
        let node = EntityDescription("Node", attributes: [AttributeDescription("name", .string)])
        var folder = EntityDescription(
            "Folder",
            relationships: [
                RelationshipDescription("parent", to: "Folder", inverse: "children"),
                many("children", to: "Folder", inverse: "parent", cascades: true),
                many("items", to: "Item", inverse: "folder"),
            ])
        folder.superentityName = "Node"
        var item = EntityDescription(
            "Item",
            relationships: [
                RelationshipDescription("folder", to: "Folder", inverse: "items"),
                many("lists", to: "Playlist", inverse: "items"),
                many("partners", to: "Item", inverse: "partners"),
            ])
        item.superentityName = "Node"
        var song = EntityDescription("Song", attributes: [AttributeDescription("bpm", .integer32)])
        song.superentityName = "Item"
        let playlist = EntityDescription(
            "Playlist", attributes: [AttributeDescription("name", .string)],
            relationships: [
                many("items", to: "Item", inverse: "lists"), many("extras", to: "Item"),
                RelationshipDescription("fans", to: "Node", toMany: true),
            ])
        return ManagedObjectModel(entities: [node, folder, item, song, playlist])
    }()
}

extension ManagedObject {
    /// The names of an ordered relationship's members.
    func names(_ key: String) -> [String] { list(key).map { $0.string("name") ?? "" } }

    /// The members of an ordered relationship.
    func list(_ key: String) -> [ManagedObject] { self[key] as? [ManagedObject] ?? [] }

    /// The same in a context of its own, which has read nothing yet.
    func fresh(_ stack: Stack) -> ManagedObject { stack.context().object(with: objectID) }
}
