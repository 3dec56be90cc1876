public import Cairn

/// An article to read.
@Entity
public final class Article: ManagedObject {
    /// Where it is.
    @Attribute(.unique) public var address: String = ""
    /// What the list shows.
    public var title: String = ""
    /// When somebody put it on the list.
    public var added: Date = Date(timeIntervalSince1970: 0)
}
