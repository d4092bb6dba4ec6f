/* The user, group and shadow databases, per version; see p3v_database.h. */
#include "p3v_database.h"
#include <grp.h>
#include <gshadow.h>
#include <pwd.h>
#include <shadow.h>

static void begin_passwd(int stay_open) {
  (void)stay_open;
  setpwent();
}

static void begin_group(int stay_open) {
  (void)stay_open;
  setgrent();
}

static void begin_shadow(int stay_open) {
  (void)stay_open;
  setspent();
}

static void begin_gshadow(int stay_open) {
  (void)stay_open;
  setsgent();
}

P3V_ENUMERATION(struct passwd, P3_PASSWD, getpwent, endpwent, getpwent_r, begin_passwd)
P3V_STEP(struct passwd, P3_PASSWD, getpwent_r)
P3V_BEGIN(P3_PASSWD, setpwent)

P3V_ENUMERATION(struct group, P3_GROUP, getgrent, endgrent, getgrent_r, begin_group)
P3V_STEP(struct group, P3_GROUP, getgrent_r)
P3V_BEGIN(P3_GROUP, setgrent)

P3V_ENUMERATION(struct spwd, P3_SHADOW, getspent, endspent, getspent_r, begin_shadow)
P3V_STEP(struct spwd, P3_SHADOW, getspent_r)
P3V_BEGIN(P3_SHADOW, setspent)

P3V_ENUMERATION(struct sgrp, P3_GSHADOW, getsgent, endsgent, getsgent_r, begin_gshadow)
P3V_STEP(struct sgrp, P3_GSHADOW, getsgent_r)
P3V_BEGIN(P3_GSHADOW, setsgent)

P3V_LOOK_UP(struct passwd, getpwnam, (const char *name),
            getpwnam_r(name, &entry, buffer.bytes, buffer.size, &result))
P3V_LOOK_UP(struct passwd, getpwuid, (uid_t id), getpwuid_r(id, &entry, buffer.bytes, buffer.size, &result))
P3V_LOOK_UP(struct group, getgrnam, (const char *name),
            getgrnam_r(name, &entry, buffer.bytes, buffer.size, &result))
P3V_LOOK_UP(struct group, getgrgid, (gid_t id), getgrgid_r(id, &entry, buffer.bytes, buffer.size, &result))
P3V_LOOK_UP(struct spwd, getspnam, (const char *name),
            getspnam_r(name, &entry, buffer.bytes, buffer.size, &result))
P3V_LOOK_UP(struct sgrp, getsgnam, (const char *name),
            getsgnam_r(name, &entry, buffer.bytes, buffer.size, &result))

P3V_LOOK_UP(struct passwd, fgetpwent, (FILE * file),
            fgetpwent_r(file, &entry, buffer.bytes, buffer.size, &result))
P3V_LOOK_UP(struct group, fgetgrent, (FILE * file),
            fgetgrent_r(file, &entry, buffer.bytes, buffer.size, &result))
P3V_LOOK_UP(struct spwd, fgetspent, (FILE * file),
            fgetspent_r(file, &entry, buffer.bytes, buffer.size, &result))
P3V_LOOK_UP(struct sgrp, fgetsgent, (FILE * file),
            fgetsgent_r(file, &entry, buffer.bytes, buffer.size, &result))
P3V_LOOK_UP(struct spwd, sgetspent, (const char *line),
            sgetspent_r(line, &entry, buffer.bytes, buffer.size, &result))
P3V_LOOK_UP(struct sgrp, sgetsgent, (const char *line),
            sgetsgent_r(line, &entry, buffer.bytes, buffer.size, &result))
