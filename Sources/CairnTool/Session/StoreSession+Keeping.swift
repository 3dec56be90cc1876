// The past data that a command requires a store to keep, and how to turn it on from the shell.

import CairnStore

extension StoreSession {
    /// Past data that a store keeps on request.
    enum Kept {
        case history, pastStates
    }

    /// Throws if the store does not keep what a command requires; the message names the commands that turn it
    /// on.
    func requireKept(_ needs: [Kept]) throws {
        var lacks: [Kept] = []
        for need in needs {
            switch need {
            case .history: if try store.historyBounds() == nil { lacks.append(need) }
            case .pastStates:
                if try pastStore().pastStateBounds() == nil { lacks.append(need) }
            }
        }
        guard let first = lacks.first else { return }
        var error = first == .history ? StoreError.noHistory : .noPastStates
        let names = lacks.map { $0 == .history ? "history" : "past states" }
        let commands = lacks.map {
            $0 == .history ? "cairn history STORE --keep" : "cairn past STORE --keep all"
        }
        error.context.detail =
            "the store keeps no \(names.joined(separator: " and no ")): "
            + "start with \(commands.joined(separator: " and "))"
        throw error
    }
}
