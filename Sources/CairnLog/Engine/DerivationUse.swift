import CairnModel

extension Engine {
    /// Whether a store computes attributes.
    enum DerivationUse {
        case none
        case computed
        /// The store's model has a derivation that is rejected.
        case refused

        init(_ derivations: SchemaDerivations) {
            self =
                derivations.refusal != nil ? .refused : derivations.isEmpty ? .none : .computed
        }
    }
}
