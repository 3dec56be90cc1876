// The command line tool `cairn`: stores in folders, and for others it runs `cairn-postgres`.

import CairnTool

Tool.main(StoreKinds(handover: .standard(to: .postgres)))
