// SPDX-License-Identifier: Apache-2.0
//
// Gives the tests an environment of their own before the first line of them runs, and so also every program that they
// start: whoever runs them has settings, models, plugins, servers and hosts, and none of that is to count. It works
// however the bundle of tests is started.

#define _GNU_SOURCE
#include "environment.h"

#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The folder of this process, and the variable that tells its children of it.
static char own[PATH_MAX];
static const char *const mark = "VOICEGRAPH_TEST_FOLDER";
static pid_t owner;

static int remove_entry(const char *path, const struct stat *entry, int kind, struct FTW *place) {
    (void)entry, (void)kind, (void)place;
    remove(path);
    return 0;
}

/// Removes the folder at the end of the process that made it, not of one that was forked from it.
static void remove_own(void) {
    if (getpid() == owner) { nftw(own, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }
}

/// Variables of a user, a session or a service that this program, or what the tests start, heeds.
static const char *const foreign[] = {
    "BASH_ENV", "COLORFGBG", "COLORTERM", "COLUMNS", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "ENV", "ESPEAK_DATA_PATH",
    "JACK_DRIVER_DIR", "JACK_PROMISCUOUS_SERVER", "LADSPA_PATH", "LANGUAGE", "LINES", "LV2_PATH", "MAKEFLAGS",
    "NOTIFY_SOCKET", "NO_COLOR", "PIPEWIRE_CONFIG_DIR", "PIPEWIRE_CONFIG_NAME", "PIPEWIRE_LATENCY", "PIPEWIRE_NODE",
    "PIPEWIRE_PROPS", "PIPEWIRE_QUANTUM", "PIPEWIRE_RATE", "PIPEWIRE_REMOTE", "PIPEWIRE_RUNTIME_DIR", "POSIXLY_CORRECT",
    "PULSE_RUNTIME_PATH", "PULSE_SERVER", "SSH_AUTH_SOCK", "SSH_CONNECTION", "TMPDIR", "USERPROFILE",
    "VOICEGRAPH_NODEKIT", "VOICEGRAPH_PLUGIN_PATH", "VOICEGRAPH_RECORDINGS", "VOICEGRAPH_SECRETS",
    "WATCHDOG_PID", "WATCHDOG_USEC",
    "WAYLAND_DISPLAY", "LC_ADDRESS", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION", "LC_MEASUREMENT",
    "LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE", "LC_TIME",
};

/// Tools behind small programs in $PATH that find them in the user's home unless they are told.
static const char *const tools[][2] = {
    {"PYENV_ROOT", ".pyenv"}, {"ASDF_DATA_DIR", ".asdf"}, {"SWIFTLY_HOME_DIR", ".local/share/swiftly"},
};

/// What the user has that is still needed: installed models for the tests that ask for them, and tools.
static void keep_of_user(void) {
    char path[PATH_MAX];
    const char *home = getenv("HOME"), *data = getenv("XDG_DATA_HOME");
    if (home == NULL) { home = ""; }
    snprintf(path, sizeof path, "%s/.local/share", home);
    setenv(VG_TEST_USER_DATA, data != NULL && *data != '\0' ? data : path, 1);
    // Where packages come from, for the test that fetches some when it is asked to.
    snprintf(path, sizeof path, "%s/.config/pip/pip.conf", home);
    if (getenv("VOICEGRAPH_TEST_MODELS") != NULL && access(path, R_OK) == 0) { setenv("PIP_CONFIG_FILE", path, 0); }
    // And how git reaches the others.
    snprintf(path, sizeof path, "%s/.gitconfig", home);
    if (access(path, R_OK) == 0) { setenv("GIT_CONFIG_GLOBAL", path, 0); }
    for (size_t index = 0; index < sizeof tools / sizeof *tools; index++) {
        snprintf(path, sizeof path, "%s/%s", home, tools[index][1]);
        if (access(path, X_OK) == 0) { setenv(tools[index][0], path, 0); }
    }
}

/// Makes folders for everything that is one's own. The user's models are there when tests of them are asked for.
static void make_folders(void) {
    static const char *const folders[][2] = {
        {"HOME", "home"}, {"XDG_RUNTIME_DIR", "run"}, {"XDG_DATA_HOME", "data"}, {"XDG_CONFIG_HOME", "config"},
        {"XDG_CACHE_HOME", "cache"}, {"XDG_STATE_HOME", "state"},
    };
    for (size_t index = 0; index < sizeof folders / sizeof *folders; index++) {
        char path[PATH_MAX + 16];
        snprintf(path, sizeof path, "%s/%s", own, folders[index][1]);
        mkdir(path, 0700);
        setenv(folders[index][0], path, 1);
    }
    if (getenv("VOICEGRAPH_TEST_MODELS") == NULL) { return; }
    char models[PATH_MAX + 32], path[PATH_MAX + 32];
    snprintf(models, sizeof models, "%s/voicegraph/models", getenv(VG_TEST_USER_DATA));
    snprintf(path, sizeof path, "%s/data/voicegraph", own);
    mkdir(path, 0700);
    strcat(path, "/models");
    if (symlink(models, path) != 0) { perror(path); }
}

/// Puts the folder of the bundle before all others of $PATH: another `voicegraph` may be installed.
static void lead_path(int count, char **arguments) {
    char bundle[PATH_MAX] = "", path[3 * PATH_MAX];
    for (int index = 0; index < count; index++) {
        size_t length = strlen(arguments[index]);
        if (length > 7 && strcmp(arguments[index] + length - 7, ".xctest") == 0
            && realpath(arguments[index], bundle) != NULL) { break; }
        bundle[0] = '\0';
    }
    if (bundle[0] == '\0' && realpath("/proc/self/exe", bundle) == NULL) { return; }
    const char *old = getenv("PATH");
    snprintf(path, sizeof path, "%s:%s", dirname(bundle), old != NULL && *old != '\0' ? old : "/usr/bin:/bin");
    setenv("PATH", path, 1);
}

/// Where that is allowed, mounts a /dev/shm of its own: all servers and clients of jackd that a user has share a database
/// and eight names there, and one that is killed, as tests do, can hold up all others for ever.
static void mount_memory(void) {
    if (unshare(CLONE_NEWNS) != 0) { return; }
    // What is mounted here is to be seen here only.
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) { return; }
    if (mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0) {
        fputs("the tests share /dev/shm with other programs\n", stderr);
    }
}

__attribute__((constructor)) static void begin(int count, char **arguments) {
    // A test in a process of its own has what the process of the tests has.
    if (getenv(mark) != NULL) { return; }
    // A descriptor that is closed would become that of the first file.
    for (int number = 0; number < 3; number++) {
        if (fcntl(number, F_GETFD) < 0) { open("/dev/null", O_RDWR); }
    }
    umask(022);
    // Sockets lie in it, whose paths are short.
    snprintf(own, sizeof own, "%s/vgt-XXXXXX", P_tmpdir);
    if (mkdtemp(own) == NULL) {
        perror("a folder for the tests cannot be made");
        _exit(70);
    }
    owner = getpid();
    atexit(remove_own);
    setenv(mark, own, 1);
    keep_of_user();
    for (size_t index = 0; index < sizeof foreign / sizeof *foreign; index++) { unsetenv(foreign[index]); }
    make_folders();
    lead_path(count, arguments);
    setenv("LANG", "C.UTF-8", 1);
    // A server of the user's is not meant, and none is to be started by libjack.
    setenv("JACK_DEFAULT_SERVER", "vgt-none", 1);
    setenv("JACK_NO_START_SERVER", "1", 1);
    mount_memory();
}

void *vg_stack_place(void) { return __builtin_frame_address(0); }

void vg_unlock_memory(void) { syscall(SYS_munlockall); }
