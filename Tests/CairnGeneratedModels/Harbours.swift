// The entities of Harbours.xcdatamodel, as classes.
// Written by: cairn model Harbours.xcdatamodel --swift
//
//     let container = try PersistentContainer(
//         at: "harbours.cairn", for: Harbour.self, Ship.self, Ferry.self, Voyage.self)
//
// swift-format-ignore-file

import Cairn

@Composite
struct Bearing: Hashable, Sendable {
    var degrees: Double = 0.0
    var distance: Double?
}

@Entity
final class Harbour: ManagedObject {
    #Unique<Harbour>([\.name])
    var name: String = ""
    @Attribute(derived: "canonical:(name)") var folded: String?
    var depth: Double? = 4.5
    var light: Bearing
    @Relationship(inverse: \Ship.home) var ships: Set<Ship>
    @Relationship(inverse: "twins") var twins: Set<Harbour>
}

@Entity
class Ship: ManagedObject {
    #Index<Ship>([\.name])
    var name: String?
    var launched: Date?
    // Transformable (class [String]): stored as JSON.
    var crew: [String]?
    var home: Harbour?
    @Relationship(inverse: \Voyage.ships) var voyages: Set<Voyage>
}

@Entity
final class Ferry: Ship {
    var seats: Int32? = 0
}

@Entity
final class Voyage: ManagedObject {
    var code: String
    var ships: Set<Ship>
    @Relationship(inverse: \Voyage.last) var next: Voyage?
    var last: Voyage?
}
