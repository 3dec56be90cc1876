import Cairn

/// A note; its number is what people call it by.
@Entity
final class Note: ManagedObject {
    @Attribute(.unique) var number: Int = 0
    var text: String = ""
    @Relationship(inverse: \Tag.notes) var tags: Set<Tag>
}

/// A tag, made when a note first has it.
@Entity
final class Tag: ManagedObject {
    @Attribute(.unique) var name: String = ""
    var notes: Set<Note>
}
