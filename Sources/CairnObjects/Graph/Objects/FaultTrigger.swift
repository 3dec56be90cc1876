// Why a fault is read.

import CairnModel

/// What of an object somebody asked for, or set.
enum FaultTrigger {
    /// No property in particular.
    case nothing
    /// A column of the object's entity.
    case column(Int)
    /// A property of the object's class.
    case property(Int)

    /// The name of the property in an object's entity; nil if it is none in particular.
    func name(of object: ManagedObject) -> String? {
        switch self {
        case .nothing: return nil
        case .column(let column): return object.entity.columns[column].name
        case .property(let property):
            let layout = object.layout.pointee
            guard property < layout.propertyCount,
                case .column(let column) = layout.properties[property]
            else { return nil }
            return object.entity.columns[column].name
        }
    }
}
