// Many players of a low-latency HLS playlist on one thread. Each has a connection that it keeps, and requests the
// playlist with the part after the last one that it has got (RFC 8216bis, 6.2.5.2), so that all of them wait for the
// same part. A player ends with its playlist.
//
//   blocked_players PORT PATH PLAYERS SECONDS
//
// Prints one JSON object. Times are in seconds of the wall clock, and those at which the kernel had received an answer: the
// players stand for programs on other machines, and may get no processor before the service has none to answer any more.
//   answers, bytes       playlists that were received with status 200 after a wait; bytes of all responses
//   failed, failure      players that ended with another response or their connection; why the first did
//   parts                [[segment, part, answers, first, last]]: when answers with that part came
//   median, p99, longest of the delays of answers after the first one with their part, for parts that all players got;
//                        0 if there is none
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { RESPONSE = 64 << 10, PARTS = 4096, TAG = 64 };

// The part after the last one of a playlist.
typedef struct {
  long segment, part;
} place;

typedef struct {
  int socket;
  // What the present request waits for; `segment` is -1 for the first request, which doesn't wait.
  place wanted;
  size_t received;
  char response[RESPONSE];
} player;

// The answers with one part.
typedef struct {
  place place;
  int count;
  double *times;
} arrivals;

static const char *path;
static int players, left, failed, parts;
static long answers;
static long long bytes;
static char failure[256];
static arrivals seen[PARTS];
// The playlist that was read last: players that get the same one need not read it.
static char last_tag[TAG];
static place last_next;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static void stop(const char *what) {
  fprintf(stderr, "blocked_players: %s: %s\n", what, strerror(errno));
  exit(1);
}

// Ends a player, because of a failure unless `why` is NULL. It doesn't try again, so that a service that refuses isn't
// asked without end.
static void end(player *player, const char *why, size_t length) {
  if (why && failed++ == 0) snprintf(failure, sizeof failure, "%.*s", (int)length, why);
  close(player->socket);
  player->socket = -1;
  left--;
}

static void ask(player *player) {
  char request[512], directives[96] = "";
  if (player->wanted.segment >= 0) {
    snprintf(directives, sizeof directives, "?_HLS_msn=%ld&_HLS_part=%ld", player->wanted.segment,
             player->wanted.part);
  }
  int length = snprintf(request, sizeof request, "GET %s%s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path,
                        directives);
  player->received = 0;
  if (send(player->socket, request, length, MSG_NOSIGNAL) != length) end(player, "a request was not sent", 64);
}

// The value of a header field, which ends at the end of its line; NULL if there is none.
static const char *field(const char *response, const char *name) {
  const char *line = strcasestr(response, name);
  return line ? line + strlen(name) : NULL;
}

// The segment is -1 after the end of the playlist.
static place following(const char *playlist) {
  place next = {0, 0};
  if (strstr(playlist, "\n#EXT-X-ENDLIST")) return (place){-1, 0};
  const char *sequence = strstr(playlist, "#EXT-X-MEDIA-SEQUENCE:");
  if (sequence) next.segment = atol(sequence + 22);
  for (const char *line = playlist; line && *line;) {
    if (strncmp(line, "#EXT-X-PART:", 12) == 0) {
      next.part++;
    } else if (*line != '#' && *line != '\n') {
      next = (place){next.segment + 1, 0};
    }
    line = strchr(line, '\n');
    if (line) line++;
  }
  return next;
}

static void note(place got, double time) {
  arrivals *each = NULL;
  // Answers with the same part come together.
  for (int index = parts - 1; !each && index >= 0 && index >= parts - 4; index--) {
    place known = seen[index].place;
    if (known.segment == got.segment && known.part == got.part) each = &seen[index];
  }
  if (!each) {
    if (parts == PARTS) stop("too many parts");
    each = &seen[parts++];
    each->place = got;
    each->times = malloc(players * sizeof *each->times);
    if (!each->times) stop("malloc");
  }
  if (each->count < players) each->times[each->count++] = time;
}

// When the kernel received what a message has; the present time if it doesn't say.
static double arrival(struct msghdr *message) {
  for (struct cmsghdr *each = CMSG_FIRSTHDR(message); each; each = CMSG_NXTHDR(message, each)) {
    if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SCM_TIMESTAMPNS) {
      struct timespec time;
      memcpy(&time, CMSG_DATA(each), sizeof time);
      return time.tv_sec + time.tv_nsec * 1e-9;
    }
  }
  return now();
}

// Reads what has arrived. At the end of a response, the next request is sent.
static void receive(player *player) {
  struct iovec room = {player->response + player->received, RESPONSE - 1 - player->received};
  char control[CMSG_SPACE(sizeof(struct timespec))];
  struct msghdr message = {.msg_iov = &room, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  ssize_t count = recvmsg(player->socket, &message, 0);
  if (count < 0 && errno == EAGAIN) return;
  if (count <= 0) return end(player, "a connection ended", 64);
  double time = arrival(&message);
  player->received += count;
  player->response[player->received] = 0;
  char *body = strstr(player->response, "\r\n\r\n");
  if (!body) return;
  body += 4;
  const char *length = field(player->response, "\r\ncontent-length: ");
  if (!length || atol(length) > RESPONSE - 1024) stop("a response without a length that is accepted");
  if (player->response + player->received < body + atol(length)) return;
  bytes += player->received;
  if (strncmp(player->response, "HTTP/1.1 200", 12) != 0) {
    return end(player, player->response, strcspn(player->response, "\r"));
  }
  if (player->wanted.segment >= 0) {
    note(player->wanted, time);
    answers++;
  }
  const char *tag = field(player->response, "\r\netag: ");
  size_t tag_length = tag ? strcspn(tag, "\r") : 0;
  if (!tag || tag_length >= TAG) stop("a response without an entity tag");
  if (strlen(last_tag) != tag_length || strncmp(tag, last_tag, tag_length) != 0) {
    snprintf(last_tag, sizeof last_tag, "%.*s", (int)tag_length, tag);
    last_next = following(body);
  }
  player->wanted = last_next;
  if (last_next.segment < 0) return end(player, NULL, 0);
  ask(player);
}

static int ascending(const void *one, const void *other) {
  double difference = *(const double *)one - *(const double *)other;
  return (difference > 0) - (difference < 0);
}

int main(int count, char **arguments) {
  if (count != 5) return fprintf(stderr, "usage: blocked_players PORT PATH PLAYERS SECONDS\n"), 64;
  path = arguments[2];
  players = atoi(arguments[3]);
  double seconds = atof(arguments[4]);
  if (players < 1 || seconds <= 0 || strlen(path) > 256) return fprintf(stderr, "bad argument\n"), 64;
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);

  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[1]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  player *all = calloc(players, sizeof *all);
  struct epoll_event *events = calloc(players, sizeof *events);
  int poll = epoll_create1(0);
  left = players;
  if (!all || !events || poll < 0) stop("starting");
  for (int index = 0; index < players; index++) {
    player *player = &all[index];
    player->socket = socket(AF_INET, SOCK_STREAM, 0);
    player->wanted = (place){-1, 0};
    if (player->socket < 0) stop("socket");
    if (connect(player->socket, (struct sockaddr *)&address, sizeof address) < 0) stop("connect");
    int yes = 1;
    setsockopt(player->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(player->socket, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = player};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, player->socket, &event) < 0) stop("epoll_ctl");
    ask(player);
  }
  for (double end = now() + seconds; left > 0 && now() < end;) {
    int ready = epoll_wait(poll, events, players, 100);
    for (int index = 0; index < ready; index++) {
      player *player = events[index].data.ptr;
      if (player->socket >= 0) receive(player);
    }
  }

  printf("{\"answers\": %ld, \"bytes\": %lld, \"failed\": %d, \"failure\": \"%s\", \"parts\": [", answers, bytes,
         failed, failure);
  double *delays = malloc(((size_t)parts * players + 1) * sizeof *delays);
  size_t measured = 0;
  if (!delays) stop("malloc");
  for (int index = 0; index < parts; index++) {
    arrivals *each = &seen[index];
    qsort(each->times, each->count, sizeof *each->times, ascending);
    for (int answer = 0; each->count == players && answer < players; answer++) {
      delays[measured++] = each->times[answer] - each->times[0];
    }
    printf("%s[%ld, %ld, %d, %.6f, %.6f]", index ? ", " : "", each->place.segment, each->place.part, each->count,
           each->times[0], each->times[each->count - 1]);
  }
  qsort(delays, measured, sizeof *delays, ascending);
  if (measured == 0) delays[measured++] = 0;
  printf("], \"median\": %.6f, \"p99\": %.6f, \"longest\": %.6f}\n", delays[(measured - 1) / 2],
         delays[(measured - 1) * 99 / 100], delays[measured - 1]);
  return 0;
}
