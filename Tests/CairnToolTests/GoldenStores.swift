// The stores of Format/golden, which have relationships, inheritance and every type of attribute.

import CairnTestSupport
import Foundation

/// A copy of a golden store, in a folder that is thrown away.
func golden(_ name: String, in work: borrowing Workplace, as copy: String? = nil) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    let store = work.folder.path((copy ?? name) + ".cairn")
    try FileManager.default.copyItem(
        atPath: root.appendingPathComponent("Format/golden/\(name).cairn").path, toPath: store)
    return store
}
