// Saves that no store carries out, and that leave it as it was.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@Suite("Saves that are refused")
struct RefusedSaveTests {
    @Test(
        "A value of another type, or beyond its range, is refused without being told",
        arguments: [
            ("note", Value.integer(7261)), ("amount", .string("MARK7261")),
            ("small", .integer(72610)), ("price", .string("MARK7261")), ("open", .integer(7261)),
            ("mark", .string("MARK7261")), ("owner", .string("MARK7261")),
        ], Backend.everyStore)
    func values(_ wrong: (key: String, value: Value), _ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            try refuse(wrong.key, wrong.value, subject)
        }
    }

    private func refuse(_ key: String, _ value: Value, _ subject: Subject) throws {
        let errors = [
            try subject.refusal {
                try subject.insert("Item", ["code": "x", key: value])
            },
            try subject.refusal { try subject.update("Item", "a", [key: value]) },
        ]
        for error in errors {
            let error = try #require(error)
            #expect(error.code == .invalidRequest && error.context.key == key)
            #expect(!"\(error)".contains("7261"), "\(error)")
        }
    }

    @Test(
        "Objects of another store, and targets of another entity, are refused",
        arguments: Backend.everyStore)
    func strangers(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let ada = try subject.id("Person", "Ada")
            try backend.withSubject(sample: true) { other in
                let (a, eve) = (try other.id("Item", "a"), try other.id("Person", "Ada"))
                var draft = try other.draft()
                try draft.update(a, ["note": "x"])
                let errors = [
                    try subject.refusal { try subject.save(draft) },
                    try subject.refusal { try subject.update("Item", "a", ["owner": eve]) },
                    try subject.refusal {
                        try subject.insert("Item", ["code": "x", "owner": eve])
                    },
                    try subject.refusal { try subject.update("Item", "a", ["rival": ada]) },
                    try subject.refusal {
                        try subject.insert("Item", ["code": "x", "tags": [ada]])
                    },
                ]
                for (place, error) in errors.enumerated() {
                    #expect(error?.code == .foreignObject, "save \(place)")
                }
            }
        }
    }
}
