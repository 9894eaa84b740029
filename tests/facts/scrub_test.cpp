#include "facts/scrub.hpp"

#include <gtest/gtest.h>

namespace waybill {
namespace {

Secrets names() {
    Secrets secrets;
    secrets.words = {{"db7.example.com", "host"}, {"alice-pc", "host"}, {"alice", "user"}};
    return secrets;
}

TEST(Scrub, NamesAndIdentifiersAreTakenOut) {
    const std::string text = scrub(
        "10.1.2.3:/export /mnt nfs addr=10.1.2.3\nUUID=1b2c3d4e-aaaa-bbbb-cccc-0123456789ab db7.example.com alice malice\n"
        "40 22 0:41 / /vol rw - nfs4 filer3.corp:/export rw\n41 22 0:42 / /win rw - cifs //winbox/share rw,username=carol,domain=CORP\n"
        "42 22 0:43 / /lfs rw - lustre mgs1@o2ib:mgs2@o2ib:/lfs rw\n43 22 0:44 / /v6 rw - nfs4 [fe80::7]:/export rw\n"
        "/home/bob/x 52:54:00:12:34:56 52-54-00-ab-cd-ef fe80::1 /docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
        "/dev/disk/by-id/nvme-Samsung_S4EVNX0N123456-part1 eui.0025385b01b0f2a1 wwn-0x5000c500a1b2c3d4 PARTUUID=abcd-02 506b:4b03:00c0:a1b2\n"
        "Alice ALICE-PC 0000:01:00.0\n",
        names());
    for (const char* gone : {"10.1.2.3", "1b2c3d4e", "db7", " alice", "bob", "52:54", "52-54", "fe80", "0123456789abcdef", "filer3", "winbox", "carol", "CORP",
                             "mgs1", "mgs2", "Samsung", "0025385b", "5000c500", "abcd-02", "506b", "Alice", "ALICE"}) {
        EXPECT_EQ(text.find(gone), std::string::npos) << gone << " in " << text;
    }
    EXPECT_NE(text.find("malice"), std::string::npos) << "a word that only contains a name is left";
    EXPECT_NE(text.find("0000:01:00.0"), std::string::npos) << "a PCI address is no secret";
}

TEST(Scrub, VersionsStay) {
    for (const char* text : {"libcufile.so.1.15.1.6", "/usr/lib/libcublas.so.12.6.4.1", "/usr/lib/libx.so.3.10.1.2.3", "GDS Version: 1.11.1.6 ", "version: 2.25.6.1",
                             "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.5.1  Sat", "NVRM version: Kernel Module  250.104.5.1",
                             "\"version\": \"1.15.1.6\"", "mlnx-ofed-5.4-1.0.3.0", "5.15.0-1.2.3.4-generic", "nvme_v1.2.3.4", "/opt/gds/1.15.1.6/lib",
                             "1.2.3.4.5", "release 24.10.1.1", "driver=1.2.3.4", "300.1.2.3"}) {
        EXPECT_EQ(scrub(text, names()), text);
    }
}

TEST(Scrub, AddressesGoWhereverTheyStand) {
    for (const char* text : {"8.8.4.4", "addr=8.8.4.4", "ip=8.8.4.4:8.8.4.4", "(8.8.4.4)", "[\"8.8.4.4\", \"8.8.4.4\"]", "alice@8.8.4.4:/x", "8.8.4.4@tcp:/lfs",
                             "//8.8.4.4/share", "/mnt/10.8.4.4/x", "nfs-10.8.4.4", "8.8.4.4."}) {
        const std::string scrubbed = scrub(text, names());
        EXPECT_EQ(scrubbed.find("8.4.4"), std::string::npos) << scrubbed;
    }
}

TEST(Scrub, ALongerNameGoesBeforeItsPart) {
    EXPECT_EQ(scrub("alice-pc alice /data/alice/alice-pc.json", names()), "host user /data/user/host.json");
}

TEST(Scrub, TwiceIsAsOnce) {
    const std::string once = scrub("8.8.8.8 fe80::1 52:54:00:12:34:56 alice-pc 1b2c3d4e-aaaa-bbbb-cccc-0123456789ab - nfs a:b:/c rw user=x UUID=1-2 "
                                   "/disk/by-id/y wwn-0x5000c500a1b2c3d4 506b:4b03:00c0:a1b2 0123456789abcdef0123456789abcdef /home/bob/1.2.3.4",
                                   names());
    EXPECT_EQ(scrub(once, names()), once);
}

TEST(Scrub, TheHostsOwnNameIsAmongTheWords) {
    const Secrets secrets = Secrets::of_this_machine();
    for (const auto& [word, with] : secrets.words) {
        EXPECT_GE(word.size(), 2U);
        EXPECT_EQ(scrub("x " + word + " y", secrets), "x " + with + " y");
    }
}

}  // namespace
}  // namespace waybill
