//! What a command sees and can change.
//!
//! Looks from both sides: what the command prints, and what the folders hold afterwards. Invariant: each refusal is
//! tried beside something that is allowed, so a cage in which nothing works can't pass.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sandbox::{CommandSpec, Mechanism, Profile, SpawnError, spawn_in};

use crate::lab::{Lab, User, each_cage, each_full_cage, output, users};

/// A folder deep in the user's home at a random place, with a canary in it. The home is the real one for the user
/// of the tests, and a folder with open doors for another, who has none.
struct Canary {
    _home: tempfile::TempDir,
    path: PathBuf,
    token: String,
}

fn canary(lab: &Lab) -> Canary {
    let real = std::env::home_dir().filter(|_| lab.user == User::Myself);
    let make = |parent: &Path| tempfile::Builder::new().prefix(".cage-").rand_bytes(12).tempdir_in(parent);
    // Service users have a home that doesn't exist.
    let home = real.and_then(|real| make(&real).ok()).unwrap_or_else(|| make(lab.base.path()).unwrap());
    fs::set_permissions(home.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let name = home.path().file_name().unwrap().to_str().unwrap().to_owned();
    let deep = home.path().join("a").join(&name);
    fs::create_dir_all(&deep).unwrap();
    let token = format!("canary{}", name.replace(['.', '-'], ""));
    let path = lab.owned_file(&deep.join("notes.txt"), &token);
    Canary { _home: home, path, token }
}

#[test]
fn a_canary_in_the_home_folder_cannot_be_read() {
    each_cage(|lab, mechanism| {
        let canary = canary(lab);
        let path = canary.path.display();
        // Where there is another root, all of it can be searched; it is small.
        let places = match mechanism {
            Mechanism::Bubblewrap | Mechanism::Namespaces => "--exclude-dir=usr --exclude-dir=proc /",
            Mechanism::Landlock | Mechanism::Seatbelt | Mechanism::AppContainer => {
                canary.path.parent().unwrap().to_str().unwrap()
            }
        };
        let script = format!(
            "cat {path}; ls -R $(dirname {path}); cp {path} stolen; ln {path} linked; ln -s {path} link; cat link;
             grep -rs canary {places} 2>/dev/null;
             cat ../../../../../../../..{path}; echo looked"
        );
        let printed = lab.run(mechanism.name(), &[], &script);
        assert!(printed.contains("looked"), "{printed}");
        let found = printed.lines().any(|line| line.contains(&canary.token));
        assert!(!found, "{mechanism:?} for {:?} leaks: {printed}", lab.user);
        assert!(!lab.folder.join("stolen").exists() && !lab.folder.join("linked").exists());
    });
}

#[test]
fn nothing_of_home_data_or_runtime_folders_is_even_visible() {
    each_full_cage(|lab, mechanism| {
        let printed = lab.run(
            mechanism.name(),
            &[],
            "for p in /root /home /run /var/lib /sys /opt /srv /mnt /media /boot /etc/shadow /etc/ssh; do [ -e $p ] && echo sees $p; done; ls -A / | tr '\n' ' '",
        );
        assert!(!printed.contains("sees"), "{printed}");
        assert!(printed.contains("private proc"), "{printed}");
    });
}

#[test]
fn the_folder_can_be_changed_and_nothing_else() {
    each_cage(|lab, mechanism| {
        let outside = lab.owned_folder("beside");
        let script = format!(
            "echo in > made; mkdir sub; mv made sub/moved; chmod 700 sub/moved;
             for at in {outside} / /usr /usr/local /etc /bin /dev /proc /var/tmp /home; do
               (echo x > $at/attack-$$) 2>/dev/null && echo wrote $at; done;
             echo t > $TMPDIR/t && echo h > $HOME/h && cat $TMPDIR/t $HOME/h",
            outside = outside.display(),
        );
        let printed = lab.run(mechanism.name(), &[], &script);
        assert!(!printed.contains("wrote"), "{mechanism:?} for {:?}: {printed}", lab.user);
        assert!(printed.contains("t\nh\n"), "the private folders don't work: {printed}");
        assert_eq!(fs::read_to_string(lab.folder.join("sub/moved")).unwrap(), "in\n");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    });
}

/// Another folder to look at: there at its own path in every cage, and never to be changed.
#[test]
fn a_folder_that_is_only_listed_for_reading_is_never_changed() {
    each_cage(|lab, mechanism| {
        let other = lab.owned_folder("other");
        lab.owned_file(&other.join("kept"), "as it was");
        let script = format!(
            "cat {other}/kept; echo; (echo x > {other}/made) 2>/dev/null; (echo x >> {other}/kept) 2>/dev/null;
             rm -f {other}/kept; mv {other}/kept gone; mkdir {other}/sub; ln {other}/kept hard; ln -s x {other}/link;
             mv {other} elsewhere; rmdir {other}; cp {other}/kept copied; ls {other}/..; echo looked",
            other = other.display(),
        );
        let printed = lab.run(mechanism.name(), &["--ro", other.to_str().unwrap()], &script);
        assert!(printed.contains("as it was") && printed.contains("looked"), "{printed}");
        assert!(!printed.contains("\nbin\n"), "what lies beside it isn't there: {printed}");
        assert_eq!(names(&other), ["kept"], "{mechanism:?} for {:?}: {printed}", lab.user);
        assert_eq!(fs::read_to_string(other.join("kept")).unwrap(), "as it was");
        assert_eq!(fs::read_to_string(lab.folder.join("copied")).unwrap(), "as it was");
    });
}

#[test]
fn a10_a_read_only_cage_writes_nowhere_but_its_private_folders() {
    each_cage(|lab, mechanism| {
        let kept = lab.owned_file(&lab.folder.join("kept"), "as it was");
        let extra = lab.owned_folder("extra");
        let script = format!(
            "(echo x > made) 2>/dev/null; (echo x > kept) 2>/dev/null; rm -f kept; mv kept gone; mkdir sub; chmod 777 kept;
             touch -d 2001-01-01 kept; ln kept hard; (echo x > {extra}/made) 2>/dev/null;
             cat kept; echo t > $TMPDIR/t && cat $TMPDIR/t",
            extra = extra.display(),
        );
        let before = fs::metadata(&kept).unwrap();
        let mut host = lab.host(mechanism.name(), "plan", &["--rw", extra.to_str().unwrap()], &script);
        let printed = output(&mut host);
        assert!(printed.contains("as it was") && printed.contains("\nend: Code(0)"), "{printed}");
        assert_eq!(names(&lab.folder), ["kept"], "{mechanism:?} for {:?}: {printed}", lab.user);
        assert_eq!(names(&extra), [""; 0]);
        assert_eq!(fs::read_to_string(&kept).unwrap(), "as it was");
        let after = fs::metadata(&kept).unwrap();
        assert_eq!(before.permissions(), after.permissions());
        assert_eq!(before.modified().unwrap(), after.modified().unwrap());
    });
}

#[test]
fn a78_hidden_folders_stay_hidden_inside_a_listed_one() {
    each_full_cage(|lab, mechanism| {
        let data = lab.folder.join("share/app data/store");
        fs::create_dir_all(&data).unwrap();
        let store = lab.owned_file(&data.join("store.db"), "canary of the store");
        let key = lab.owned_file(&lab.folder.join("share/key"), "canary of the key");
        for path in [lab.folder.join("share"), lab.folder.join("share/app data"), data.clone()] {
            lab.owned_folder(path.strip_prefix(lab.base.path()).unwrap().to_str().unwrap());
        }
        let options = ["--hide", data.to_str().unwrap(), "--hide", key.to_str().unwrap()];
        let printed = lab.run(
            mechanism.name(),
            &options,
            "cat share/key 'share/app data/store/store.db'; grep -rs canary . ; (echo x > share/key) 2>&1;
             (echo x > 'share/app data/store/store.db'); rm -rf share; mv 'share/app data' elsewhere; mv share away;
             mv 'share/app data/store' elsewhere; umount 'share/app data/store'; ls -A 'share/app data/store'; echo looked; ls",
        );
        assert!(printed.contains("looked") && !printed.contains("canary"), "{mechanism:?}: {printed}");
        assert_eq!(fs::read_to_string(&store).unwrap(), "canary of the store", "{printed}");
        assert_eq!(fs::read_to_string(&key).unwrap(), "canary of the key", "{printed}");
        // The next cage hides by path: a moved parent would bring the folder into view.
        let again = lab.run(mechanism.name(), &options, "grep -rs canary .; echo looked");
        assert!(again.contains("looked") && !again.contains("canary"), "{again}");
    });
}

#[test]
fn a78_a_cage_that_cannot_hide_refuses() {
    let lab = Lab::new(User::Myself);
    let mut profile = Profile::for_folder(&lab.folder);
    profile.hide = vec![lab.owned_folder("project/data")];
    let refused = spawn_in(Mechanism::Landlock, &profile, &CommandSpec::shell("true"));
    assert!(matches!(refused, Err(SpawnError::CannotHide { .. })), "{refused:?}");
    // The folder itself can't be what is hidden.
    profile.hide = vec![lab.folder.clone()];
    let refused = spawn_in(Mechanism::Namespaces, &profile, &CommandSpec::shell("true"));
    assert!(matches!(refused, Err(SpawnError::Folder { .. })), "{refused:?}");
}

#[test]
fn a_listed_part_of_the_folder_stays_read_only() {
    each_full_cage(|lab, mechanism| {
        let part = lab.owned_folder("project/a/part");
        lab.owned_folder("project/a");
        lab.owned_file(&part.join("rules"), "mine");
        let printed = lab.run(
            mechanism.name(),
            &["--ro", part.to_str().unwrap()],
            "(echo x > a/part/rules) 2>&1; rm -rf a; mv a b; mv a/part c; cat a/part/rules",
        );
        assert!(printed.contains("mine"), "{mechanism:?}: {printed}");
        assert_eq!(fs::read_to_string(part.join("rules")).unwrap(), "mine");
    });
}

#[test]
fn listed_folders_can_be_used_as_listed() {
    each_cage(|lab, mechanism| {
        let (read, write) = (lab.owned_folder("read"), lab.owned_folder("write"));
        lab.owned_file(&read.join("file"), "to read");
        let (read, write) = (read.display().to_string(), write.display().to_string());
        let script = format!(
            "cat {read}/file; (echo x > {read}/new) 2>/dev/null || echo refused; echo w > {write}/new"
        );
        let printed = lab.run(mechanism.name(), &["--ro", &read, "--rw", &write], &script);
        assert!(printed.contains("to read") && printed.contains("refused"), "{mechanism:?}: {printed}");
        assert_eq!(names(Path::new(&write)), ["new"]);
        assert_eq!(names(Path::new(&read)), ["file"]);
    });
}

#[test]
fn links_out_of_the_folder_lead_nowhere() {
    each_cage(|lab, mechanism| {
        let outside = lab.owned_folder("outside");
        let secret = lab.owned_file(&outside.join("secret"), "canary");
        std::os::unix::fs::symlink(&outside, lab.folder.join("link")).unwrap();
        std::os::unix::fs::symlink(&secret, lab.folder.join("file")).unwrap();
        let printed = lab.run(mechanism.name(), &[], "cat link/secret file; (echo x > file) 2>&1; echo done");
        assert!(printed.contains("done") && !printed.contains("canary"), "{mechanism:?}: {printed}");
        assert_eq!(fs::read_to_string(&secret).unwrap(), "canary");
    });
}

#[test]
fn unusable_folders_are_refused() {
    let lab = Lab::new(User::Myself);
    let file = lab.owned_file(&lab.base.path().join("file"), "");
    let check = |folder: &Path| {
        for mechanism in Mechanism::ALL {
            let refused = spawn_in(mechanism, &Profile::for_folder(folder), &CommandSpec::shell("true"));
            assert!(matches!(refused, Err(SpawnError::Folder { .. })), "{}: {refused:?}", folder.display());
        }
    };
    check(Path::new("/"));
    check(Path::new("/usr"));
    check(Path::new("/etc/ssl"));
    check(Path::new("/proc/self/cwd/../../../proc"));
    check(&lab.base.path().join("missing"));
    check(&file);
}

#[test]
fn odd_folders_work() {
    for user in users() {
        for mechanism in Lab::new(user).mechanisms() {
            let mut lab = Lab::new(user);
            lab.folder = lab.owned_folder("with space/und 中文 \"quoted\" $(id)\nline");
            let printed = lab.run(mechanism.name(), &[], "echo here > made; pwd");
            assert!(printed.contains("$(id)\nline"), "{mechanism:?}: {printed}");
            assert_eq!(names(&lab.folder), ["made"]);
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
