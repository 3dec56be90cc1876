// Places in sections, as the lists of Apple's systems have them: there their frameworks bring these names.

public import Foundation

extension IndexPath {
    init(_ position: FetchedList.Position) {
        self.init(indexes: [position.section, position.item])
    }

    #if !canImport(Darwin)
        /// The index path of an item in a section.
        public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

        /// The index path of a row in a section.
        public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

        /// The section of a place in sections.
        public var section: Int { self[0] }
        /// The item of a place in sections.
        public var item: Int { self[1] }
        /// The row of a place in sections, which is the item.
        public var row: Int { self[1] }
    #endif
}
