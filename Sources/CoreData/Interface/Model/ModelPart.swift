// What the parts of a model have in common: they can be changed until the model is in use.

import CairnModel
import Foundation
import Synchronization

/// A part of a model.
protocol ModelPart: AnyObject {
    /// Whether a coordinator has the model: from then on any thread may read it, and nobody changes it.
    var isInUse: Bool { get set }
}

extension ModelPart {
    /// Is called before each change.
    func willChange() {
        precondition(
            !isInUse,
            "a model that is in use cannot be changed: change a copy() of the model, and make the container or coordinator with that"
        )
        ModelChanges.count.add(1, ordering: .relaxed)
    }
}

/// How often a part of a model was changed, whichever: what was computed of a model holds while the number stays the same.
enum ModelChanges {
    static let count = Atomic<Int>(0)
}

/// The marks by which a model file says what has no effect here, and is kept.
enum ModelMark: String {
    case allowsCloudEncryption
    case isIndexedBySpotlight = "spotlightIndexingEnabled"
    case isStoredInExternalRecord = "storedInTruthFile"
    case spotlightDisplayName = "coreSpotlightDisplayNameExpression"
}

extension [String: String] {
    /// Whether a mark of a model file is set.
    subscript(mark: ModelMark) -> Bool {
        get { self[mark.rawValue] == "YES" }
        set { self[mark.rawValue] = newValue ? "YES" : nil }
    }

    /// What a program's information for people says in texts, which a model can keep.
    init(userInfo: [AnyHashable: Any]?) {
        self.init()
        for (key, value) in userInfo ?? [:] {
            guard let key = key.base as? String, let text = value as? String else { continue }
            self[key] = text
        }
    }
}

extension ModelError {
    /// An error in a model that a program has made.
    init(_ code: Code, of entity: NSEntityDescription?, _ property: String, _ message: String) {
        self.init(code, message, element: "\(entity?.name ?? "?").\(property)")
    }
}
