import CairnModel

extension ObjectID {
    /// The number of the row that a stored reference refers to; nil if there is none.
    var number: UInt32? { UInt32(exactly: reference) }
}
