// One element of the XML of a model file, with its line number.

/// One element of a model file.
struct ModelElement {
    /// The tag.
    let name: String
    /// The attributes, by name.
    let marks: [String: String]
    /// Where the element begins, from 1.
    let line: Int
    /// The elements inside, in the order of the file.
    var children: [ModelElement] = []
    /// The text inside, if it was asked for and no element lies beside it.
    var text = ""
}
