import CairnTestSupport
import SystemPackage
import Testing

@testable import CairnFileSystem

#if os(Linux)

    @Suite("Disks that other machines may have too")
    struct SharedDiskTests {
        @Test("A folder of this machine is on a disk of its own, also one that is still to be made")
        func own() {
            withTemporaryDirectory { directory in
                let disk = POSIXFileSystem()
                #expect(disk.sharedDisk(of: directory.filePath) == nil)
                #expect(disk.sharedDisk(of: directory.filePath / "new") == nil)
                #expect(disk.sharedDisk(of: directory.filePath / "no" / "such" / "folder") == nil)
                #expect(disk.sharedDisk(of: ".") == nil)
                #expect(disk.sharedDisk(of: "new") == nil)
                #expect(disk.sharedDisk(of: "/proc") == nil)
            }
        }

        @Test("The table of mounts says what is made with FUSE")
        func mounts() {
            let table = """
                22 26 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw
                26 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
                80 26 0:45 / /mnt/with\\040space rw - fuse.sshfs me@machine:/b - rw,user_id=0
                81 26 0:46 / /mnt/secret rw,nosuid master:3 propagate_from:2 - fuse.gocryptfs x rw
                82 26 0:47 / /mnt/b shared:9 rw - - fuse.rclone x rw
                83 26 0:48 /
                84 26 0:49 / /mnt/virtual rw,relatime - virtiofs tag rw
                85 26 0:50 / /mnt/cut rw -

                no mount at all
                """
            let kinds: [(String, String?)] = [
                ("0:45", "fuse.sshfs"), ("0:46", nil), ("0:48", nil), ("0:49", "virtiofs"),
                ("0:50", nil), ("8:1", nil), ("0:4", nil), ("", nil),
            ]
            for (device, kind) in kinds {
                #expect(SharedDisks.fuseKind(ofDevice: device, mounts: table) == kind, "\(device)")
            }
            #expect(SharedDisks.fuseKind(ofDevice: "0:45", mounts: "") == nil)
        }

        @Test(
            "This machine is the same one at every look, and its identifier is read as it is written"
        )
        func host() throws {
            let host = try #require(POSIXFileSystem().host)
            let again = try #require(POSIXFileSystem().host)
            #expect(host.high == again.high && host.low == again.low)
            #expect(!host.name.isEmpty && !host.name.contains("\n"))
            let text = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0\n"
            let read = try #require(Host(boot: text, name: "north"))
            #expect(read.high == 0x0f1e_2d3c_4b5a_6978 && read.low == 0x8796_a5b4_c3d2_e1f0)
            for wrong in ["", "0f1e2d3c", text + "0", "xf1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"] {
                #expect(Host(boot: wrong, name: "north") == nil)
            }
            #expect(MemoryFileSystem().host == nil)
            #expect(MemoryFileSystem().sharedDisk(of: "/") == nil)
        }

        @Test("What the kernel tells is read to its end, and what is not there is empty")
        func systemText() {
            #expect(SystemText.read("/proc/self/mountinfo").contains(" / "))
            #expect(SystemText.read("/proc/no such file").isEmpty)
        }
    }

#endif
