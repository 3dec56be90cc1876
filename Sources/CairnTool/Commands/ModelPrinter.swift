// A model on standard output, for people or as JSON.

import CairnModel
import FoundationEssentials

/// Prints models.
enum ModelPrinter {
    /// Prints a model for people, or on one line as JSON with sorted keys.
    static func print(_ model: ManagedObjectModel, json: Bool) throws {
        let console = Console.current
        guard json else {
            var text = ModelDescription(model).description
            while text.last == "\n" { text.removeLast() }
            console.print(text)
            return
        }
        do {
            console.print(try model.jsonLine())
        } catch {
            throw Failure("the model cannot be written as JSON: \(error)")
        }
    }
}
