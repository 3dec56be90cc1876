// The stores of Format/golden, which have relationships, inheritance and every type of attribute.

import CairnTestSupport
import Foundation

/// The folder of the golden stores.
let goldenFolder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Format/golden").path

/// A copy of a golden store, in a folder that is thrown away.
func golden(_ name: String, in work: borrowing Workplace, as copy: String? = nil) throws -> String {
    let store = work.folder.path((copy ?? name) + ".cairn")
    try FileManager.default.copyItem(
        atPath: "\(goldenFolder)/\(name).cairn", toPath: store)
    return store
}
