// Grip force from eight EMG channels, with its error bar, at 200 rows per second.
#include <Quaver.h>

#include "grip_force.h" // written by `quaver export --c`

static QUAVER_ARENA(arena, GRIP_FORCE_ARENA_WORDS);
static quaver_predictor *predictor;

void setup() {
  Serial.begin(115200);
  int32_t status = quaver_predictor_load(grip_force_model, sizeof grip_force_model, arena,
                                         GRIP_FORCE_ARENA_WORDS, &predictor);
  if (status != QUAVER_OK) Serial.println(quaver_status_text(status));
}

void loop() {
  float row[GRIP_FORCE_INPUTS];
  quaver_output force;
  for (unsigned i = 0; i < GRIP_FORCE_INPUTS; i++) row[i] = analogRead(A0 + i) * (100.0f / 1023.0f);
  if (quaver_predictor_step(predictor, row, GRIP_FORCE_INPUTS, &force, 1) == QUAVER_OK) {
    Serial.print(force.mean);
    Serial.print(" +- ");
    Serial.println(sqrtf(force.variance));
  }
  delay(5);
}
